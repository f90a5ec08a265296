package api

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// Kind is a kind of objects: its path in the API, and its noun in messages.
type Kind struct {
	Path string
	Noun string
}

// The kinds that this provider knows.
var (
	Keys      = Kind{Path: "keys", Noun: "key"}
	Gateways  = Kind{Path: "gateways", Noun: "gateway"}
	Libraries = Kind{Path: "libraries", Noun: "library"}
	Teams     = Kind{Path: "teams", Noun: "team"}
)

// Object is what all kinds have in common, and what a key or a gateway has besides.
type Object struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Namespace  string          `json:"namespace"`
	Team       string          `json:"team"`
	TeamID     string          `json:"teamId"`
	Spec       json.RawMessage `json:"spec"`
	DeclaredIn *struct {
		Kind string `json:"kind"`
	} `json:"declaredIn"`

	DisplayName string `json:"displayName"`

	Versions   []Version   `json:"versions"`
	Scopes     []string    `json:"scopes"`
	State      string      `json:"state"`
	ExpiresAt  *string     `json:"expiresAt"`
	Revocation *Revocation `json:"revocation"`

	PublicID string `json:"publicID"`

	ETag string `json:"-"`
}

// Version is one secret that a key has had.
type Version struct {
	Number int64  `json:"number"`
	Prefix string `json:"prefix"`
	State  string `json:"state"`
}

// Revocation is how a key has ended.
type Revocation struct {
	Reason string `json:"reason"`
	At     string `json:"at"`
}

// Current is the version in use, or the last one; false where there is none.
func (object *Object) Current() (Version, bool) {
	for _, version := range object.Versions {
		if version.State == "active" {
			return version, true
		}
	}
	if len(object.Versions) == 0 {
		return Version{}, false
	}
	return object.Versions[0], true
}

// Source is a secret as the server gets it.
type Source struct {
	Hash SourceHash `json:"hash"`
}

// SourceHash is what the server knows of a secret.
type SourceHash struct {
	SHA256 string `json:"sha256"`
	Prefix string `json:"prefix"`
}

// NewKey is a key that is to be made.
type NewKey struct {
	Name      string `json:"name"`
	Team      string `json:"team"`
	Namespace string `json:"namespace,omitempty"`
	Spec      any    `json:"spec"`
	Source    Source `json:"source"`
	Reason    string `json:"reason,omitempty"`
}

// NewVersion is a version that a key is to get.
type NewVersion struct {
	Source  Source `json:"source"`
	Overlap string `json:"overlap,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Replacement is what an object is to be, the whole of it.
type Replacement struct {
	Spec   any    `json:"spec"`
	Reason string `json:"reason,omitempty"`
}

func parse(answer *Answer) (*Object, error) {
	object := &Object{}
	if err := json.Unmarshal(answer.Body, object); err != nil || object.ID == "" {
		return nil, &Unreachable{message: "the server's answer is no object of Keyplane's: see that the provider's url is right", cause: err}
	}
	object.ETag = answer.ETag
	return object, nil
}

// Get is the object of an id; nil where there is none to be seen. A revoked key can still be seen.
func (client *Client) Get(ctx context.Context, kind Kind, id string) (*Object, error) {
	answer, err := client.Send(ctx, Request{Method: http.MethodGet, Path: kind.Path + "/" + url.PathEscape(id)})
	var refusal *Refusal
	if errors.As(err, &refusal) && refusal.IsNotFound() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parse(answer)
}

// EnsureGone makes sure that an object which is answered as not there is gone. The API answers so, too, to the token of no
// member of its team, and so do another installation and another path: who sees the team sees what it has.
func (client *Client) EnsureGone(ctx context.Context, teamID string) error {
	if teamID == "" {
		return nil
	}
	team, err := client.Get(ctx, Teams, teamID)
	if err != nil || team != nil {
		return err
	}
	return errors.New("It is not to be seen with this token, and its team is not either: see that the provider's url is this installation's and the token one of a member of the team. Only where the team is gone, take it out by a state rm.")
}

// How many pages a look-up by name reads at most: revoked keys are listed too.
const maxPages = 1000

// Find is the one living object of a name. An empty team or namespace is any.
func (client *Client) Find(ctx context.Context, kind Kind, team, namespace, name string) (*Object, error) {
	query := url.Values{"limit": {"200"}, "name": {name}}
	if team != "" {
		query.Set("team", team)
	}
	if namespace != "" {
		query.Set("namespace", namespace)
	}
	var living []*Object
	for range maxPages {
		answer, err := client.Send(ctx, Request{Method: http.MethodGet, Path: kind.Path, Query: query})
		if err != nil {
			return nil, err
		}
		page := struct {
			Items      []*Object `json:"items"`
			NextCursor string    `json:"nextCursor"`
		}{}
		if err := json.Unmarshal(answer.Body, &page); err != nil {
			return nil, &Unreachable{message: "the server's answer is no list of Keyplane's: see that the provider's url is right", cause: err}
		}
		for _, object := range page.Items {
			if object.Revocation == nil {
				living = append(living, object)
			}
		}
		if page.NextCursor == "" {
			break
		}
		query.Set("cursor", page.NextCursor)
	}
	switch len(living) {
	case 0:
		return nil, fmt.Errorf("there is no %s named %q, or none to be seen with this token", kind.Noun, name)
	case 1:
		return living[0], nil
	default:
		return nil, fmt.Errorf("there are %d of the name %q: give the team and the namespace too, or the id", len(living), name)
	}
}

// CreateKey makes a key: one, also where its answer is lost and it is asked for again.
func (client *Client) CreateKey(ctx context.Context, key NewKey) (*Object, error) {
	request := Request{Method: http.MethodPost, Path: Keys.Path, Body: key, IdempotencyKey: newIdempotencyKey()}
	answer, err := client.Send(ctx, request)
	if err != nil {
		return nil, err
	}
	return parse(answer)
}

// ReplaceKey changes what a key is to be, where it is still what its entity tag stands for.
func (client *Client) ReplaceKey(ctx context.Context, id, etag string, to Replacement) (*Object, error) {
	request := Request{Method: http.MethodPut, Path: Keys.Path + "/" + url.PathEscape(id), Body: to, IfMatch: etag}
	answer, err := client.Send(ctx, request)
	if err != nil {
		return nil, err
	}
	return parse(answer)
}

// newIdempotencyKey is by chance: what another apply has made is found by its name.
func newIdempotencyKey() string {
	return "terraform-" + rand.Text()
}

// AddVersion gives a key a new secret: one version, also where its answer is lost and it is asked for again.
func (client *Client) AddVersion(ctx context.Context, id string, version NewVersion) (*Object, error) {
	answer, err := client.Send(ctx, Request{
		Method:         http.MethodPost,
		Path:           Keys.Path + "/" + url.PathEscape(id) + "/versions",
		Body:           version,
		IdempotencyKey: newIdempotencyKey(),
	})
	if err != nil {
		return nil, err
	}
	return parse(answer)
}

// DeleteKey ends a key for ever. One that is gone is ended.
func (client *Client) DeleteKey(ctx context.Context, id, teamID, reason string) error {
	request := Request{Method: http.MethodDelete, Path: Keys.Path + "/" + url.PathEscape(id)}
	if reason != "" {
		request.Body = map[string]string{"reason": reason}
	}
	answer, err := client.Send(ctx, request)
	var refusal *Refusal
	if errors.As(err, &refusal) && refusal.IsNotFound() {
		return client.EnsureGone(ctx, teamID)
	}
	if err != nil {
		return err
	}
	receipt := struct {
		Confirmed *bool `json:"confirmed"`
	}{}
	if err := json.Unmarshal(answer.Body, &receipt); err != nil || receipt.Confirmed == nil {
		return &Unreachable{message: "the server's answer is none of Keyplane's: see that the provider's url is right", cause: err}
	}
	return nil
}
