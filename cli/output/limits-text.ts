type Limits = { readonly [K in "requestsPerMinute" | "burst" | "concurrent"]?: number | null };

/** What a key is limited to, of its own. */
export function limitsText({ requestsPerMinute, burst, concurrent }: Limits): string {
  const rate = requestsPerMinute
    ? [`${requestsPerMinute} requests a minute, ${burst ?? requestsPerMinute} at once`]
    : [];
  const calls = concurrent ? [`${concurrent} calls under way`] : [];
  return [...rate, ...calls].join("; ") || "none of its own";
}
