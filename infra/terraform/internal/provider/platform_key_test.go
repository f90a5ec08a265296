package provider

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"keyplane.dev/terraform-provider-keyplane/internal/api"
	"keyplane.dev/terraform-provider-keyplane/internal/secret"
)

// keyOf is a key whose version in use is of a secret, and a server that gives it another one, or refuses to.
func keyOf(t *testing.T, text string, status int, body any) (*platformKey, *api.Object, *int) {
	t.Helper()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) {
		asked++
		response.WriteHeader(status)
		_ = json.NewEncoder(response).Encode(body)
	}))
	t.Cleanup(server.Close)
	object := &api.Object{ID: "key_1", Versions: []api.Version{{Number: 1, Prefix: secret.Prefix(text), State: "active"}}}
	return &platformKey{connected{api.New(server.URL, api.Tokens{Token: "t"}, "test")}}, object, &asked
}

var (
	alike = []string{"inf_ourproject" + strings.Repeat("a", 30), "inf_ourproject" + strings.Repeat("b", 30)}
	made  = map[string]any{"id": "key_1", "versions": []any{map[string]any{"number": 2, "prefix": "inf_ourproje", "state": "active"}}}
	taken = map[string]any{"code": "conflict", "detail": "This secret belongs to a key, or did."}
)

// b173: secrets of another system may all begin alike.
func TestAnotherSecretThatBeginsAsTheFirst(t *testing.T) {
	key, object, _ := keyOf(t, alike[0], http.StatusCreated, made)
	got, err := key.ensureVersion(context.Background(), object, alike[1], platformKeyModel{})
	if err != nil || got.Versions[0].Number != 2 {
		t.Errorf("no new version: %v", err)
	}
}

func TestSecretThatTheKeyHas(t *testing.T) {
	key, object, _ := keyOf(t, alike[0], http.StatusConflict, taken)
	if got, err := key.ensureVersion(context.Background(), object, alike[0], platformKeyModel{}); err != nil || got != object {
		t.Errorf("an interrupted apply is not gone on with: %v", err)
	}
	object.Versions = append(object.Versions, api.Version{Number: 0, Prefix: secret.Prefix(alike[0]), State: "retired"})
	if _, err := key.ensureVersion(context.Background(), object, alike[0], platformKeyModel{}); err == nil {
		t.Error("of two versions that begin alike the one in use is taken for the secret's")
	}
	text := secret.Mint()
	key, object, asked := keyOf(t, text, http.StatusConflict, taken)
	if got, err := key.ensureVersion(context.Background(), object, text, platformKeyModel{}); err != nil || got != object || *asked != 0 {
		t.Errorf("asked %d times: %v", *asked, err)
	}
}

// The state would have this secret as the key's while it is another's, and no plan would see it.
func TestKeyThatIsRotatedWhileItIsTakenUp(t *testing.T) {
	text := secret.Mint()
	for _, rotated := range []bool{true, false} {
		key := &platformKey{}
		server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
			prefix := secret.Prefix(text)
			if request.Method == http.MethodPut && rotated {
				prefix = "inf_another0"
			}
			versions := []any{map[string]any{"number": 1, "prefix": prefix, "state": "active"}}
			spec := map[string]any{"preset": "MCPReadOnly"}
			_ = json.NewEncoder(response).Encode(map[string]any{"id": "key_1", "name": "reader", "spec": spec, "versions": versions})
		}))
		t.Cleanup(server.Close)
		key.client = api.New(server.URL, api.Tokens{Token: "t"}, "test")
		refused := &api.Refusal{Status: http.StatusConflict, Code: "exists", ID: "key_1"}
		object, err := key.takeUp(context.Background(), platformKeyModel{Name: "reader"}, text, refused)
		if rotated && err != refused || !rotated && (err != nil || object == nil) {
			t.Errorf("rotated %t: %v, %v", rotated, object, err)
		}
	}
}

// To delete the manifest would revoke it.
func TestKeyThatAManifestHasTakenOver(t *testing.T) {
	ctx := context.Background()
	declared := map[string]any{"id": "key_1", "name": "reader", "spec": map[string]any{}, "declaredIn": map[string]any{}}
	key, _, _ := keyOf(t, "", http.StatusOK, declared)
	var described resource.SchemaResponse
	key.Schema(ctx, resource.SchemaRequest{}, &described)
	state := tfsdk.State{Schema: described.Schema}
	state.RemoveResource(ctx)
	for _, name := range []string{"id", "name", "team"} {
		state.SetAttribute(ctx, path.Root(name), "key_1")
	}
	response := resource.ReadResponse{State: state}
	key.Read(ctx, resource.ReadRequest{State: state}, &response)
	if errs := response.Diagnostics.Errors(); len(errs) != 1 || !strings.Contains(errs[0].Detail(), "`tofu state rm`") {
		t.Errorf("%v", errs)
	}
}

// b351: a configuration that names its team by its id has the same key after a refresh.
func TestTeamByItsID(t *testing.T) {
	object := &api.Object{ID: "key_1", Name: "reader", Team: "research", TeamID: "team_1"}
	for written, shown := range map[string]string{"team_1": "team_1", "research": "research", "": "research", "renamed": "research"} {
		model := platformKeyModel{Team: written}
		if diagnostics := model.show(context.Background(), object); diagnostics.HasError() || model.Team != shown {
			t.Errorf("%q is shown as %q", written, model.Team)
		}
	}
}

// b445: a key that a run has opened is revoked at its end, or the run says that it may work on.
func TestEphemeralKeyThatIsNotToBeSeenAtItsEnd(t *testing.T) {
	ctx := context.Background()
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if request.Method == http.MethodPost {
			_ = json.NewEncoder(response).Encode(map[string]any{"id": "key_1", "teamId": "team_1"})
			return
		}
		response.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(response).Encode(map[string]any{"code": "not_found"})
	}))
	t.Cleanup(server.Close)
	key := &ephemeralKey{connected{api.New(server.URL, api.Tokens{Token: "t"}, "test")}}
	var described ephemeral.SchemaResponse
	key.Schema(ctx, ephemeral.SchemaRequest{}, &described)
	result := tfsdk.EphemeralResultData{Schema: described.Schema}
	result.Set(ctx, &ephemeralKeyModel{Team: "research"})
	opened := ephemeral.OpenResponse{Result: result}
	opened.Private = newOf(opened.Private)
	key.Open(ctx, ephemeral.OpenRequest{Config: tfsdk.Config{Schema: described.Schema, Raw: result.Raw}}, &opened)
	var closed ephemeral.CloseResponse
	key.Close(ctx, ephemeral.CloseRequest{Private: opened.Private}, &closed)
	if opened.Diagnostics.HasError() || closed.Diagnostics.ErrorsCount() != 1 {
		t.Errorf("opened with %v, closed with %v", opened.Diagnostics, closed.Diagnostics)
	}
}

// newOf is an empty value of a type that the framework does not export.
func newOf[T any](*T) *T { return new(T) }
