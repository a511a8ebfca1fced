package tool_test

import (
	"context"
	"fmt"
	"log"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/tool"
)

// An agent has a tool, and a policy that has a person look at each call of users.
func Example() {
	ctx := context.Background()
	weather := fake{name: "weather", schema: `{"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}`}
	registry, err := tool.New([]tool.Group{{Name: "weather", Tools: []parley.Tool{weather}}}, tool.Config{
		Rules: []tool.Rule{{Tool: "weather", Roles: []parley.Role{parley.RoleUser}, Effect: parley.ToolApprove}},
	})
	if err != nil {
		log.Fatal(err)
	}
	ann := parley.Principal{Identity: "telegram:7", User: "ann", Role: parley.RoleUser}
	set, err := registry.For(ann, nil)
	if err != nil {
		log.Fatal(err)
	}
	call := parley.ToolCall{ID: "1", Name: "weather", Arguments: []byte(`{"town": "Bern"}`)}
	effect, why := set.Effect(call)
	fmt.Println(effect, "-", why)

	result, err := set.Run(ctx, parley.ToolCaller{Principal: ann}, call)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.IsError, result.Text)
	// Output:
	// approve - the tool weather needs an approval for somebody with the role user: the policy says so
	// true The arguments of weather do not fit: required: missing properties: ["city"]. It takes: city (string required).
}
