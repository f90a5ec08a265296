package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Refusal is the API's answer to what it does not do: a problem document.
type Refusal struct {
	Status int
	// Code is empty for what no server of ours answers.
	Code   string `json:"code"`
	Detail string `json:"detail"`
	// ID is that of the object that is in the way, where there is one.
	ID     string  `json:"id"`
	Faults []Fault `json:"errors"`
}

// Fault is what is wrong with a field. The API speaks of `spec.scopes[0]`.
type Fault struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

func refusalOf(status int, body []byte) *Refusal {
	refusal := Refusal{}
	// A field of another type is left as it is: the status is always known.
	_ = json.Unmarshal(body, &refusal)
	refusal.Status = status
	if refusal.Detail == "" {
		refusal.Detail = fmt.Sprintf("it answers with %d", status)
	}
	return &refusal
}

// What to do about a refusal, by its code: after what the API says itself.
var advice = map[string]string{
	"conflict":             "Plan again, and apply that.",
	"forbidden":            "Ask an admin of the team for a role that may, or use the token of one who may.",
	"managed":              "Take it out of this configuration after `tofu state rm`, which leaves the key as it is. To delete its manifest would revoke it.",
	"precondition_failed":  "Another client has changed it since this plan read it: plan again, see what would be undone, and apply that.",
	"too_many_versions":    `In a configuration the latter is overlap = "0s".`,
	"not_found":            "It is not there, or not to be seen with this token: see that the token is of this installation and team.",
	"unavailable":          "The server cannot work at the moment: run it again in a while.",
	"rate_limited":         "Run it again in a while, or with a lower -parallelism.",
	"insufficient_storage": "Ask those who run the server for room.",
}

// Error is for people: what the API says, where, and what to do about it.
func (refusal *Refusal) Error() string {
	text := refusal.Detail
	if len(refusal.Faults) > 0 {
		lines := make([]string, 0, len(refusal.Faults))
		for _, fault := range refusal.Faults {
			lines = append(lines, strings.TrimPrefix(fault.Path, "spec.")+": "+fault.Message)
		}
		text = strings.Join(lines, "\n")
	}
	if refusal.Code == "exists" {
		return text + fmt.Sprintf("\nIf it was this configuration's under another address, say so in a moved block. If another client has made it, or an apply that was interrupted, choose another name, or import the one that is there by its id, %s.", refusal.ID)
	}
	if hint, known := advice[refusal.Code]; known {
		return text + "\n" + hint
	}
	return fmt.Sprintf("%s (%d %s)", text, refusal.Status, refusal.Code)
}

// IsNotFound says whether the API knows no such object, or shows it to no one with this token.
func (refusal *Refusal) IsNotFound() bool {
	return refusal.Status == http.StatusNotFound && refusal.Code == "not_found"
}

// Unreachable says that the API cannot be reached, or is none. What was asked for may have been done.
type Unreachable struct {
	message string
	cause   error
}

func (one *Unreachable) Error() string { return one.message }

func (one *Unreachable) Unwrap() error { return one.cause }
