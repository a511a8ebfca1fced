package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-run/parley/secret"
)

// scalar decodes a single value.
func (d *decoder) scalar(v reflect.Value, f field, path []string, n node) {
	if !n.scalar() {
		d.mismatch(path, n, "a single value is wanted"+wanted(f))
		return
	}
	switch {
	case v.Type() == refType:
		d.ref(v, path, n)
	case v.Type() == durationType:
		d.duration(v, f, path, n)
	case v.Type() == sizeType:
		d.size(v, f, path, n)
	case v.Kind() == reflect.Bool:
		d.flag(v, path, n)
	case v.Kind() == reflect.String:
		d.text(v, f, path, n)
	default:
		d.integer(v, f, path, n)
	}
}

func (d *decoder) flag(v reflect.Value, path []string, n node) {
	switch {
	case n.text != "true" && n.text != "false":
		d.refuse(path, n, "it must be true or false")
	case n.quoted:
		d.refuse(path, n, "that is text; write it without quotes")
	default:
		v.SetBool(n.text == "true")
	}
}

// refuse names a value that is wrong, and says what would be right.
func (d *decoder) refuse(path []string, n node, format string, args ...any) {
	d.fail(n.place, "%s is %s; %s", pathText(path), quote(n.text), fmt.Sprintf(format, args...))
}

// wanted says in a few words what a field can be.
func wanted(f field) string {
	switch {
	case len(f.enum) > 0:
		return ": " + either(f.enum)
	case f.def != "":
		return ", such as " + f.def
	}
	return ""
}

// ref decodes a reference to a secret. Nothing of the value is repeated: it may
// be the secret itself.
func (d *decoder) ref(v reflect.Value, path []string, n node) {
	if n.text == "" {
		return
	}
	ref, err := secret.Parse(n.text)
	if err != nil {
		d.fail(n.place, "%s: %v", pathText(path), err)
		return
	}
	v.Set(reflect.ValueOf(ref))
}

func (d *decoder) text(v reflect.Value, f field, path []string, n node) {
	switch {
	case n.kind == kindBool:
		d.refuse(path, n, "that is no text; %s", cmp.Or(strings.TrimPrefix(wanted(f), ": "), "put it in quotes if you mean it"))
		return
	case len(f.enum) > 0 && !slices.Contains(f.enum, n.text):
		hint := ""
		if near := nearest(n.text, f.enum); near != "" && len(f.enum) > 3 {
			hint = "; did you mean " + near + "?"
		}
		d.refuse(path, n, "it must be %s%s", either(f.enum), hint)
		return
	}
	if rule := rules[f.is]; rule != nil {
		if mute, wrong := rule(n.text); wrong != "" {
			if mute {
				d.fail(n.place, "%s: %s", pathText(path), wrong)
			} else {
				d.refuse(path, n, "%s", wrong)
			}
			return
		}
	}
	if err := secret.CheckPlain(n.text); err != nil && f.is != ruleID {
		d.fail(n.place, "%s: %v", pathText(path), err)
		return
	}
	v.SetString(n.text)
}

func (d *decoder) integer(v reflect.Value, f field, path []string, n node) {
	i, err := strconv.ParseInt(strings.ReplaceAll(n.text, "_", ""), 10, 64)
	switch {
	case n.kind == kindText && n.quoted && err == nil:
		d.refuse(path, n, "that is text; write it without quotes")
		return
	case errors.Is(err, strconv.ErrRange):
		d.refuse(path, n, "that is too far from zero")
		return
	case err != nil:
		d.refuse(path, n, "it must be a whole number%s", wanted(f))
		return
	}
	if d.bounded(i, f, path, n) {
		v.SetInt(i)
	}
}

func (d *decoder) duration(v reflect.Value, f field, path []string, n node) {
	dur, err := parseDuration(n.text)
	switch {
	case errors.Is(err, errNoUnit):
		d.refuse(path, n, "a unit is missing, as in %ss, %sm, %sh or %sd", n.text, n.text, n.text, n.text)
		return
	case err != nil:
		d.refuse(path, n, "it must be a duration%s; the units are d, h, m, s and ms", wanted(f))
		return
	}
	if d.bounded(int64(dur), f, path, n) {
		v.SetInt(int64(dur))
	}
}

func (d *decoder) size(v reflect.Value, f field, path []string, n node) {
	size, err := parseSize(n.text)
	if err != nil {
		d.refuse(path, n, "it must be a size%s; the units are B, KiB, MiB, GiB, TiB, kB, MB, GB and TB", wanted(f))
		return
	}
	if d.bounded(int64(size), f, path, n) {
		v.SetInt(int64(size))
	}
}

// bounded reports whether a number is within the field's bounds.
func (d *decoder) bounded(i int64, f field, path []string, n node) bool {
	least, most := f.bounds()
	low, high := f.min != "" && i < least, f.max != "" && i > most
	switch {
	case !low && !high:
		return true
	case f.min != "" && f.max != "":
		d.refuse(path, n, "it must be %s to %s", f.min, f.max)
	case low:
		d.refuse(path, n, "it must be %s or more", f.min)
	default:
		d.refuse(path, n, "it must be %s or less", f.max)
	}
	return false
}

func (f field) bounds() (least, most int64) {
	parse := func(text string) int64 {
		if dur, err := parseDuration(text); f.typ == durationType && err == nil {
			return int64(dur)
		}
		size, _ := parseSize(text) // of the tags; a test reads them all
		return int64(size)
	}
	return parse(f.min), parse(f.max)
}
