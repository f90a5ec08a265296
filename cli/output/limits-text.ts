type Limits = { readonly [K in "requestsPerMinute" | "burst" | "tokensPerMinute" | "concurrent"]?: number | null } & {
  readonly scope?: string | null;
};

/** Formats the limits of a key, a team or a route. */
export function limitsText({ requestsPerMinute, burst, tokensPerMinute, concurrent, scope }: Limits): string {
  const rate = requestsPerMinute
    ? [`${requestsPerMinute} requests a minute, ${burst ?? requestsPerMinute} at once${where(scope)}`]
    : [];
  const calls = concurrent ? [`${concurrent} calls under way`] : [];
  const tokens = tokensPerMinute ? [`${tokensPerMinute} tokens a minute${where(scope)}`] : [];
  return [...rate, ...tokens, ...calls].join("; ") || "none of its own";
}

function where(scope: Limits["scope"]): string {
  return scope === "Installation" ? ", over all replicas" : ", on each replica";
}
