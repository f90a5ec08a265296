package api

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Tokens is where the token of each request comes from: a file, or else the token itself.
type Tokens struct {
	File  string
	Token string
}

var oneWord = regexp.MustCompile(`^[\x21-\x7e]+$`)

// read is the token as it is now. A file is read each time, since its writer may replace the token at any moment.
// No error holds what was read.
func (tokens Tokens) read() (string, error) {
	if tokens.File == "" {
		return parseToken(tokens.Token, "token (or KEYPLANE_TOKEN)")
	}
	text, err := os.ReadFile(tokens.File)
	if err != nil {
		var fault *os.PathError
		if errors.As(err, &fault) {
			err = fault.Err
		}
		return "", fmt.Errorf("the token's file %s cannot be read (%w): see that it is there", tokens.File, err)
	}
	return parseToken(string(text), tokens.File)
}

func parseToken(text, where string) (string, error) {
	token := strings.TrimSpace(text)
	if strings.HasPrefix(token, "inf_") {
		return "", fmt.Errorf("%s holds an API key, which manages nothing: give a token of an issuer, or the installation's", where)
	}
	if !oneWord.MatchString(token) {
		return "", fmt.Errorf("%s holds no token: it must be one word on one line", where)
	}
	return token, nil
}
