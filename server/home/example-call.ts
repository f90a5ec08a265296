import type { MediaTypes, Operation } from "../openapi/format.ts";

/**
 * Returns a call of an operation for a shell. The header comes from a file descriptor: a key in an argument would be in
 * the list of processes.
 */
export function exampleCall(method: string, path: string, { parameters, requestBody, security }: Operation): string {
  const headers = parameters.filter((one) => one.in === "header" && one.required).map(({ name }) => `-H '${name}: *'`);
  const [body] = Object.entries(requestBody?.content ?? {});
  const query = parameters.filter((one) => one.in === "query" && one.required).map(({ name }) => `${name}=...`);
  const target = `${path.replace(/\{(\w+)\}/g, (_, name: string) => shellVariable(name))}${query.length > 0 ? `?${query.join("&")}` : ""}`;
  const lines = [
    method === "GET" ? "curl" : `curl -X ${method}`,
    ...credential(security),
    ...headers,
    ...(path.endsWith("/mcp") ? ["-H 'Accept: application/json, text/event-stream'"] : []),
    ...(body === undefined ? [] : bodyArguments(...body)),
    `"$KEYPLANE_BASE_URL${target}"`,
  ];
  return lines.join(" \\\n  ");
}

/** Returns a variable of a shell. Without its braces zsh takes a colon behind it, and what follows, for a modifier. */
function shellVariable(name: string): string {
  return `\${${name.replace(/[A-Z]/g, "_$&").toUpperCase()}}`;
}

/** Returns the arguments for a body. The fields of a form are its example's, a file that of a variable's name. */
function bodyArguments(type: string, { example }: MediaTypes[string]): string[] {
  if (type !== "multipart/form-data") return [`-H 'Content-Type: ${type}'`, `-d '${JSON.stringify(example)}'`];
  return Object.entries(Object(example)).map(([name, value]) =>
    value === "(file)" ? `-F "${name}=@${shellVariable(name)}"` : `-F '${name}=${value}'`,
  );
}

function credential(security: Operation["security"]): string[] {
  const variable = security.some((one) => "bearerKey" in one)
    ? "KEYPLANE_API_KEY"
    : security.some((one) => "managementToken" in one)
      ? "KEYPLANE_TOKEN"
      : undefined;
  return variable === undefined ? [] : [`-H @<(printf 'Authorization: Bearer %s' "$${variable}")`];
}
