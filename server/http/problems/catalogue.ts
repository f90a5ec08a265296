/** Problems that the server reports by itself: status, title, and the detail that a caller may see. */
export const PROBLEMS = {
  invalid_request: { status: 400, title: "Bad request", detail: "The request is not valid." },
  subject_required: {
    status: 400,
    title: "Subject required",
    detail: "This key serves many subjects: say whose memory each call means in the header X-Keyplane-Subject.",
  },
  unauthorized: {
    status: 401,
    title: "Unauthorized",
    detail:
      "A valid API key is needed: send it as `Authorization: Bearer <key>`, or where the provider's SDK puts its own. This one is missing, malformed, unknown, revoked, expired or suspended, or it is not a key for this gateway. A PlatformKey has one issued, and so does the console at /dashboard.",
  },
  forbidden: { status: 403, title: "Forbidden", detail: "This key does not have the right to do this." },
  address_not_allowed: {
    status: 403,
    title: "Address not allowed",
    detail: "This key may not be used from this address.",
  },
  forbidden_origin: {
    status: 403,
    title: "Forbidden",
    detail: "Requests for this Host or from this Origin are refused.",
  },
  not_found: { status: 404, title: "Not found", detail: "There is nothing here." },
  method_not_allowed: {
    status: 405,
    title: "Method not allowed",
    detail: "This method is not served here; the Allow header names those that are.",
  },
  not_acceptable: { status: 406, title: "Not acceptable", detail: "No representation fits the Accept header." },
  request_timeout: {
    status: 408,
    title: "Request timeout",
    detail: "The request's body came too slowly: less than 30 KiB in 30 seconds.",
  },
  conflict: { status: 409, title: "Conflict", detail: "The resource has changed since it was read: read it again." },
  exists: { status: 409, title: "Conflict", detail: "An object of this name exists: `id` says which." },
  too_many_versions: {
    status: 409,
    title: "Too many versions",
    detail: "The limit of earlier versions that still work is reached: `retiresAt` says when the next of them ends.",
  },
  managed: {
    status: 409,
    title: "Managed elsewhere",
    detail: "A declaration governs this: change the declaration.",
  },
  precondition_failed: {
    status: 412,
    title: "Precondition failed",
    detail: "It has changed since it was read: read it again, and send the change with the ETag that it has now.",
  },
  payload_too_large: {
    status: 413,
    title: "Content too large",
    detail: "The body is larger than this operation takes.",
  },
  uri_too_long: { status: 414, title: "URI too long", detail: "A part of the path is longer than any that is served." },
  unsupported_media_type: {
    status: 415,
    title: "Unsupported media type",
    detail: "The Content-Type, or the Content-Encoding, is not one that this operation reads.",
  },
  expectation_failed: {
    status: 417,
    title: "Expectation failed",
    detail: "Only `Expect: 100-continue` is understood.",
  },
  invalid: { status: 422, title: "Not valid", detail: "The content is not valid: `errors` says where." },
  idempotency_mismatch: {
    status: 422,
    title: "Idempotency key in use",
    detail:
      "Another request was made with this Idempotency-Key: `id` is what it made. Use a new key for a new request.",
  },
  upgrade_required: { status: 426, title: "Upgrade required", detail: "Protocol upgrades are not served here." },
  precondition_required: {
    status: 428,
    title: "Precondition required",
    detail: "Send the header If-Match with the ETag that was read, so that no other change is undone.",
  },
  rate_limited: {
    status: 429,
    title: "Too many requests",
    detail: "This key's rate limit is used up: try again later.",
  },
  budget_exceeded: {
    status: 429,
    title: "Budget exceeded",
    detail: "A budget of this key, of its team or of several teams has no room for this call until it resets.",
  },
  headers_too_large: {
    status: 431,
    title: "Request header fields too large",
    detail: "The request's headers are too large.",
  },
  internal: {
    status: 500,
    title: "Internal server error",
    detail: "The request failed here; the cause is in the log.",
  },
  bad_gateway: { status: 502, title: "Bad gateway", detail: "The upstream did not give a usable answer." },
  upstream_credential_refused: {
    status: 502,
    title: "Upstream credential refused",
    detail:
      "The upstream refuses the credential that this gateway has for it. Your key is not at fault: the owner of the gateway replaces the credential in the Secret that the ModelGateway names.",
  },
  unavailable: {
    status: 503,
    title: "Service unavailable",
    detail: "This replica cannot prove at present that its view of the keys is current: try again.",
  },
  gateway_timeout: { status: 504, title: "Gateway timeout", detail: "The upstream did not answer in time." },
  insufficient_storage: {
    status: 507,
    title: "Insufficient storage",
    detail: "The database's disk is full, and nothing was written: make room there, and send the request again.",
  },
} as const satisfies Record<string, { status: number; title: string; detail: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

/** Headers that belong to a problem in every answer. */
export const HEADERS_OF_PROBLEMS: Partial<Record<ProblemCode, Readonly<Record<string, string>>>> = {
  unauthorized: { "www-authenticate": "Bearer" },
  request_timeout: { connection: "close" },
  upstream_credential_refused: { "x-should-retry": "false" },
  unavailable: { "retry-after": "1" },
};
