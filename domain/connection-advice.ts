/** Advice for a `fetch` that got no answer, by error codes. */
const ADVICE: readonly (readonly [codes: readonly string[], advice: string])[] = [
  [
    [
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "SELF_SIGNED_CERT_IN_CHAIN",
      "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    ],
    "its certificate is of no authority that is known here: name a file with that authority, in PEM, by the variable NODE_EXTRA_CA_CERTS",
  ],
  [["ERR_TLS_CERT_ALTNAME_INVALID"], "name the host in the URL as its certificate does"],
  [["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"], "see this machine's clock, and have the certificate renewed"],
  [
    ["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG"],
    "no TLS is spoken there: see the port in the URL, or write http where the server is on this machine",
  ],
  [["ENOTFOUND", "EAI_AGAIN"], "see the host's name in the URL, and that this machine can resolve it"],
];
/** Message of `fetch`, without a code, for an answer that redirects: a credential does not follow a redirect. */
const REDIRECT = "unexpected redirect";

/**
 * Returns advice about a request of `fetch` that got no answer.
 *
 * @param error that it threw
 * @param otherwise advice for an unknown error: most often no program listens there
 */
export function connectionAdvice(error: unknown, otherwise: string): string {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one.message === REDIRECT) return "it sends callers to another URL: give that one, most often with https";
    const code = "code" in one ? String(one.code) : "";
    const known = ADVICE.find(([codes]) => codes.includes(code));
    if (known !== undefined) return known[1];
  }
  return otherwise;
}
