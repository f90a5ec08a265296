import type { Operation } from "../openapi/format.ts";

/**
 * Returns a call of an operation for a shell. The header comes from a file descriptor: a key in an argument would be in
 * the list of processes.
 */
export function exampleCall(method: string, path: string, { parameters, requestBody, security }: Operation): string {
  const headers = parameters.filter((one) => one.in === "header" && one.required).map(({ name }) => `-H '${name}: *'`);
  const [body] = Object.entries(requestBody?.content ?? {});
  const query = parameters.filter((one) => one.in === "query" && one.required).map(({ name }) => `${name}=...`);
  const target = `${path.replace(/\{(\w+)\}/g, (_, name: string) => `$${name.replace(/[A-Z]/g, "_$&").toUpperCase()}`)}${query.length > 0 ? `?${query.join("&")}` : ""}`;
  const lines = [
    method === "GET" ? "curl" : `curl -X ${method}`,
    ...credential(security),
    ...headers,
    ...(path.endsWith("/mcp") ? ["-H 'Accept: application/json, text/event-stream'"] : []),
    ...(body === undefined ? [] : [`-H 'Content-Type: ${body[0]}'`, `-d '${JSON.stringify(body[1].example)}'`]),
    `"$KEYPLANE_BASE_URL${target}"`,
  ];
  return lines.join(" \\\n  ");
}

function credential(security: Operation["security"]): string[] {
  const variable = security.some((one) => "bearerKey" in one)
    ? "KEYPLANE_API_KEY"
    : security.some((one) => "managementToken" in one)
      ? "KEYPLANE_TOKEN"
      : undefined;
  return variable === undefined ? [] : [`-H @<(printf 'Authorization: Bearer %s' "$${variable}")`];
}
