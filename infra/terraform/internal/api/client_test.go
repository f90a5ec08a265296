package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// serve answers each request in turn, the last answer for ever, and counts them.
func serve(t *testing.T, answers ...http.HandlerFunc) (*Client, *atomic.Int64) {
	t.Helper()
	asked := &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		turn := int(asked.Add(1))
		answers[min(turn, len(answers))-1](response, request)
	}))
	t.Cleanup(server.Close)
	return New(server.URL, Tokens{Token: "t"}, "test"), asked
}

func answer(status int, body any) http.HandlerFunc {
	return func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("Retry-After", "0.01")
		response.WriteHeader(status)
		_ = json.NewEncoder(response).Encode(body)
	}
}

func breakOff(http.ResponseWriter, *http.Request) {
	panic(http.ErrAbortHandler)
}

var (
	busy = map[string]any{"code": "rate_limited", "detail": "Too many."}
	key  = map[string]any{"id": "key_1", "name": "reader"}
)

func TestBusyServer(t *testing.T) {
	for _, status := range []int{429, 503} {
		client, asked := serve(t, answer(status, busy), answer(200, key))
		if object, err := client.Get(context.Background(), Keys, "key_1"); err != nil || object.Name != "reader" || asked.Load() != 2 {
			t.Errorf("%d: asked %d times: %v", status, asked.Load(), err)
		}
		client, asked = serve(t, answer(status, busy))
		var refusal *Refusal
		_, err := client.Get(context.Background(), Keys, "key_1")
		if !errors.As(err, &refusal) || refusal.Status != status || asked.Load() != tries {
			t.Errorf("%d: asked %d times: %v", status, asked.Load(), err)
		}
	}
}

func TestProxyWhoseServerIsNotThereYet(t *testing.T) {
	page := func(status int) http.HandlerFunc {
		return func(response http.ResponseWriter, _ *http.Request) {
			response.Header().Set("Retry-After", "0.01")
			response.WriteHeader(status)
			_, _ = response.Write([]byte("<html>"))
		}
	}
	for _, away := range []http.HandlerFunc{page(429), page(502), page(503), page(504), answer(504, map[string]any{"message": "timed out"})} {
		client, asked := serve(t, away, answer(201, key))
		if object, err := client.CreateKey(context.Background(), NewKey{Name: "reader"}); err != nil || object.Name != "reader" || asked.Load() != 2 {
			t.Errorf("asked %d times: %v", asked.Load(), err)
		}
		client, asked = serve(t, away)
		if _, err := client.Get(context.Background(), Keys, "key_1"); err == nil || !strings.Contains(err.Error(), "server is away") || asked.Load() != tries {
			t.Errorf("asked %d times: %v", asked.Load(), err)
		}
	}
}

// b350: what a token does not see goes on working.
func TestDeletionOfWhatIsNotSeen(t *testing.T) {
	receipt := map[string]any{"sequence": 1, "confirmed": true}
	none := answer(404, map[string]any{"code": "not_found", "detail": "There is no key of this id."})
	for name, deletion := range map[string]struct {
		answers []http.HandlerFunc
		fails   string
	}{
		"it is ended":                  {[]http.HandlerFunc{answer(200, receipt)}, ""},
		"it is gone from its team":     {[]http.HandlerFunc{none, answer(200, map[string]any{"id": "team_1"})}, ""},
		"its team is not seen either":  {[]http.HandlerFunc{none, none}, "not to be seen with this token"},
		"a proxy knows no such route":  {[]http.HandlerFunc{answer(404, map[string]any{"message": "no Route matched"})}, "404"},
		"a proxy answers for a server": {[]http.HandlerFunc{answer(200, map[string]any{"message": "ok"})}, "url is right"},
		"nothing is answered":          {[]http.HandlerFunc{answer(200, nil)}, "url is right"},
		"its answer is lost":           {[]http.HandlerFunc{breakOff, none, answer(200, map[string]any{"id": "team_1"})}, ""},
	} {
		client, _ := serve(t, deletion.answers...)
		err := client.DeleteKey(context.Background(), "key_1", "team_1", "")
		if (err == nil) != (deletion.fails == "") || (err != nil && !strings.Contains(err.Error(), deletion.fails)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCreationWhoseAnswerIsLost(t *testing.T) {
	var sent []string
	note := func(then http.HandlerFunc) http.HandlerFunc {
		return func(response http.ResponseWriter, request *http.Request) {
			sent = append(sent, request.Header.Get("Idempotency-Key"))
			then(response, request)
		}
	}
	client, _ := serve(t, note(breakOff), note(answer(201, key)))
	object, err := client.CreateKey(context.Background(), NewKey{Name: "reader"})
	if err != nil || object.ID != "key_1" || len(sent) != 2 || sent[0] == "" || sent[0] != sent[1] {
		t.Errorf("%v sent: %v", sent, err)
	}
}

func TestChangeWhoseAnswerIsLost(t *testing.T) {
	client, asked := serve(t, breakOff, answer(412, map[string]any{"code": "precondition_failed"}))
	_, err := client.ReplaceKey(context.Background(), "key_1", `"a"`, Replacement{})
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Status != 412 || asked.Load() != 2 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
}

func TestTokenThatIsReplaced(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old\n")
	client, asked := serve(t, func(response http.ResponseWriter, request *http.Request) {
		if request.Header.Get("Authorization") == "Bearer old" {
			write("new\n")
			answer(401, map[string]any{"code": "unauthorized"})(response, request)
			return
		}
		answer(200, key)(response, request)
	})
	client.tokens = Tokens{File: file}
	if _, err := client.Get(context.Background(), Keys, "key_1"); err != nil || asked.Load() != 2 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
}

func TestKeyBehindAPageOfRevokedOnes(t *testing.T) {
	revoked := map[string]any{"id": "key_0", "name": "reader", "revocation": map[string]any{"reason": "Deleted"}}
	first := answer(200, map[string]any{"items": []any{revoked}, "nextCursor": "key_0"})
	second := func(response http.ResponseWriter, request *http.Request) {
		items := []any{}
		if request.URL.Query().Get("cursor") == "key_0" {
			items = append(items, key)
		}
		answer(200, map[string]any{"items": items, "nextCursor": nil})(response, request)
	}
	client, asked := serve(t, first, second)
	if object, err := client.Find(context.Background(), Keys, "", "", "reader"); err != nil || object.ID != "key_1" || asked.Load() != 2 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
}

func TestKeyInPlaceOfAToken(t *testing.T) {
	client, asked := serve(t, answer(200, key))
	client.tokens = Tokens{Token: "inf_0123456789"}
	_, err := client.Get(context.Background(), Keys, "key_1")
	if err == nil || !strings.Contains(err.Error(), "manages nothing") || strings.Contains(err.Error(), "inf_") || asked.Load() != 0 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
}

func TestWhatIsNoServerOfOurs(t *testing.T) {
	client, _ := serve(t, func(response http.ResponseWriter, _ *http.Request) {
		_, _ = response.Write([]byte("<html>"))
	})
	_, err := client.Get(context.Background(), Keys, "key_1")
	if err == nil || !strings.Contains(err.Error(), "as no Keyplane server does") {
		t.Error(err)
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	for text, body := range map[string]map[string]any{
		"scopes[0]: is unknown":         {"code": "invalid", "errors": []any{map[string]any{"path": "spec.scopes[0]", "message": "is unknown"}}},
		"import the one that is there":  {"code": "exists", "detail": "There is one.", "id": "key_1"},
		"after `tofu state rm`":         {"code": "managed", "detail": "A manifest declares this key."},
		"Another client has changed it": {"code": "precondition_failed", "detail": "It is another by now."},
		"A new one. (418 teapot)":       {"code": "teapot", "detail": "A new one."},
	} {
		client, _ := serve(t, answer(418, body))
		_, err := client.Get(context.Background(), Keys, "key_1")
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
