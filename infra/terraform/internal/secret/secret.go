// Package secret makes the secrets of keys: the server gets their hashes alone.
package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"regexp"
)

const (
	alphabet     = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	scheme       = "inf_"
	bodyLength   = 55
	prefixLength = 12
	minLength    = len(scheme) + 32
	// The largest multiple of 62 below 256: bytes from it on are dropped, so that every character is equally likely.
	unbiased = 248
)

// Mint makes a new secret: `inf_`, 8 base62 characters of public id, 43 of secret, 6 of checksum.
func Mint() string {
	body := []byte(scheme)
	random := make([]byte, bodyLength)
	for len(body) < bodyLength {
		// It never fails: without randomness the process ends.
		_, _ = rand.Read(random)
		for _, one := range random {
			if one < unbiased && len(body) < bodyLength {
				body = append(body, alphabet[one%62])
			}
		}
	}
	return string(body) + checksum(string(body))
}

func checksum(body string) string {
	rest := crc32.ChecksumIEEE([]byte(body))
	digits := make([]byte, 6)
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = alphabet[rest%62]
		rest /= 62
	}
	return string(digits)
}

// IsMinted says whether a secret is as Keyplane makes them, so that its prefix is its own: those of another system may all
// begin alike.
func IsMinted(text string) bool {
	return len(text) == bodyLength+6 && text[:len(scheme)] == scheme && text[bodyLength:] == checksum(text[:bodyLength])
}

// Prefix is what of a secret may be shown: it identifies a version, and authenticates nothing.
func Prefix(text string) string {
	return text[:min(prefixLength, len(text))]
}

// Hash is the SHA-256 that the server knows a secret by, in hex.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

var allowed = regexp.MustCompile(`^inf_[!#-+\--~]+$`)

// IsSecret says whether a text can be the secret of a key.
func IsSecret(text string) bool {
	return len(text) >= minLength && allowed.MatchString(text)
}

var secrets = regexp.MustCompile(`(inf_[!#-+\--~]{8})[!#-+\--~]+`)

// Redact leaves of each secret in a text its prefix alone.
func Redact(text string) string {
	return secrets.ReplaceAllString(text, "$1…")
}
