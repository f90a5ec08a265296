package secret

import (
	"strings"
	"testing"
)

func TestMint(t *testing.T) {
	one, other := Mint(), Mint()
	if len(one) != 61 || !strings.HasPrefix(one, "inf_") || !IsSecret(one) {
		t.Errorf("a secret of %d characters that begins with %s", len(one), Prefix(one))
	}
	if one[55:] != checksum(one[:55]) {
		t.Error("its checksum is another")
	}
	if !IsMinted(one) || IsMinted(one[:60]+"!") || IsMinted(one[:60]) || IsMinted("") {
		t.Error("what is minted is not known by its form")
	}
	if one == other {
		t.Error("the same twice")
	}
}

func TestChecksum(t *testing.T) {
	// As domain/key/secret/key-format.ts has it.
	if got := checksum("inf_" + strings.Repeat("0", 51)); got != "3o4OZn" {
		t.Errorf("checksum %s", got)
	}
}

func TestRedact(t *testing.T) {
	text := "conflict with " + Mint() + "."
	if got := Redact(text); len(got) != len("conflict with inf_12345678…") {
		t.Errorf("%d characters are left", len(got))
	}
}
