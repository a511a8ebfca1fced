package route_test

import (
	"fmt"
	"log"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/route"
)

// A message in the topic of a Telegram forum, where everybody has a conversation
// of their own with the agent.
func Example() {
	rt, err := route.New(route.Config{
		GroupSessionsPerUser:  true,
		ThreadSessionsPerUser: true,
		IdentityLinks:         map[string][]string{"alice": {"telegram:7", "slack:U01"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	res, err := rt.Resolve(route.Request{
		Inbound: parley.Inbound{
			Channel: "telegram", ChatType: "group", ChatID: "-1001", TopicID: "42", Sender: parley.Sender{ID: "7"},
		},
		Explain: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Signature)
	fmt.Println(res.Key)
	fmt.Println("shared:", res.Shared)
	for _, line := range res.Why {
		fmt.Println("-", line)
	}
	// Output:
	// v=1|agent=main|channel=telegram|account=default|chat=group:-1001/42|sender=alice
	// sk_v1_8d4072ae50226db23b6953648ea867e8559c3a719882c47bc4d91ef9eaeb35d4
	// shared: false
	// - sender "7" is "alice": identity link "telegram:7"
	// - agent main: the default
	// - dimensions [chat]: as configured
	// - sender added: group_sessions_per_user and thread_sessions_per_user are on
	// - chat holds topic "42": topics of a Telegram forum are apart
	// - private: one sender's
}
