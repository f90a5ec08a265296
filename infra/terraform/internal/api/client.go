// Package api asks a server's management API under `/api/v1` (docs/reference/management-api.md).
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	// An answer waits for all replicas, 10 s at the most; with hundreds of changes at once there is a queue besides.
	timeout = 120 * time.Second
	// A team may have 128 requests wait for the server's database: others of the team are to have room.
	mostAtOnce = 64
	// How often, and after how long at most, a server is asked again that is busy, or whose answer was lost.
	tries   = 4
	maxWait = 5 * time.Second
	// The longest answer that is read.
	maxBody = 16 << 20
)

// Client asks one server.
type Client struct {
	url    string
	tokens Tokens
	agent  string
	http   *http.Client
	places chan struct{}
}

// Request is one question. It is sent again where no answer came: a POST has an idempotency key and a PUT an entity tag,
// under which what was done once is refused, and who asks finds it done.
type Request struct {
	Method         string
	Path           string
	Query          url.Values
	Body           any
	IfMatch        string
	IdempotencyKey string
}

// Answer is what the server said, as JSON.
type Answer struct {
	Body []byte
	ETag string
}

// New makes a client. url is without a slash at its end; agent names the provider and its version.
func New(url string, tokens Tokens, agent string) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = mostAtOnce
	client := &http.Client{
		Timeout:   timeout,
		Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
	return &Client{url: url, tokens: tokens, agent: agent, http: client, places: make(chan struct{}, mostAtOnce)}
}

// Send asks, and asks again while the server is busy. The error is a *Refusal or an *Unreachable, or of the token.
func (client *Client) Send(ctx context.Context, request Request) (*Answer, error) {
	select {
	case client.places <- struct{}{}:
		defer func() { <-client.places }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for try := 1; ; try++ {
		answer, body, err := client.insist(ctx, request)
		if err != nil {
			return nil, err
		}
		isLast := !isBusy(answer.StatusCode) || try == tries
		if isLast && isBusy(answer.StatusCode) && refusalOf(answer.StatusCode, body).Code == "" {
			return nil, client.unreachable(nil, "%s answers with %d, as a proxy does whose server is away: run it again", client.url, answer.StatusCode)
		}
		if isLast && !json.Valid(body) {
			return nil, client.unreachable(nil, "%s answers (%d) as no Keyplane server does: see that the provider's url is right", client.url, answer.StatusCode)
		}
		if answer.StatusCode < 300 {
			return &Answer{Body: body, ETag: answer.Header.Get("ETag")}, nil
		}
		if isLast {
			return nil, refusalOf(answer.StatusCode, body)
		}
		if err := wait(ctx, retryAfter(answer.Header)); err != nil {
			return nil, err
		}
	}
}

// isBusy says whether the server, or a proxy before it, has no answer now, and the same may be asked later.
func isBusy(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	default:
		return false
	}
}

func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.ParseFloat(header.Get("Retry-After"), 64)
	if err != nil || seconds <= 0 {
		seconds = 1
	}
	return time.Duration(math.Min(float64(maxWait), seconds*float64(time.Second)))
}

// insist asks again where the connection has broken.
func (client *Client) insist(ctx context.Context, request Request) (*http.Response, []byte, error) {
	for try := 1; ; try++ {
		answer, body, err := client.withToken(ctx, request)
		var broken *Unreachable
		if err == nil || try == tries || !errors.As(err, &broken) || ctx.Err() != nil {
			return answer, body, err
		}
		if err := wait(ctx, time.Duration(try)*time.Second); err != nil {
			return nil, nil, err
		}
	}
}

// withToken asks once more where the token was refused, and there is another one by now.
func (client *Client) withToken(ctx context.Context, request Request) (*http.Response, []byte, error) {
	token, err := client.tokens.read()
	if err != nil {
		return nil, nil, err
	}
	answer, body, err := client.once(ctx, request, token)
	if err != nil || answer.StatusCode != http.StatusUnauthorized {
		return answer, body, err
	}
	if fresh, err := client.tokens.read(); err == nil && fresh != token {
		answer, body, err = client.once(ctx, request, fresh)
		if err != nil || answer.StatusCode != http.StatusUnauthorized {
			return answer, body, err
		}
	}
	return nil, nil, fmt.Errorf("%s refuses the token. Get a new one, and run it again", client.url)
}

func (client *Client) once(ctx context.Context, request Request, token string) (*http.Response, []byte, error) {
	var sent io.Reader
	if request.Body != nil {
		text, err := json.Marshal(request.Body)
		if err != nil {
			return nil, nil, err
		}
		sent = bytes.NewReader(text)
	}
	address := client.url + "/api/v1/" + request.Path
	if len(request.Query) > 0 {
		address += "?" + request.Query.Encode()
	}
	question, err := http.NewRequestWithContext(ctx, request.Method, address, sent)
	if err != nil {
		return nil, nil, err
	}
	question.Header.Set("Authorization", "Bearer "+token)
	question.Header.Set("User-Agent", client.agent)
	for name, value := range map[string]string{"If-Match": request.IfMatch, "Idempotency-Key": request.IdempotencyKey} {
		if value != "" {
			question.Header.Set(name, value)
		}
	}
	if request.Body != nil {
		question.Header.Set("Content-Type", "application/json")
	}
	answer, err := client.http.Do(question)
	if err != nil {
		return nil, nil, client.unreachable(err, "no answer from %s (%s): see that the server runs there and that the provider's url is right, then run it again", client.url, causeOf(err))
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxBody))
	if err != nil {
		return nil, nil, client.unreachable(err, "the answer of %s broke off (%s): run it again", client.url, causeOf(err))
	}
	return answer, body, nil
}

func (client *Client) unreachable(cause error, format string, values ...any) error {
	return &Unreachable{message: fmt.Sprintf(format, values...), cause: cause}
}

// causeOf leaves out the method and address, which the message has.
func causeOf(err error) error {
	var fault *url.Error
	if errors.As(err, &fault) {
		return fault.Err
	}
	return err
}

func wait(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
