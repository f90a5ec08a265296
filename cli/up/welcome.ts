import { join } from "node:path";
import type { Dialect } from "../../domain/access/key-record.ts";
import type { Scope } from "../../domain/access/scopes.ts";
import { findCondition } from "../../domain/conditions.ts";
import { readStatusFiles, type StatusObject } from "../data/status-files.ts";
import { keyTable } from "../get/get.ts";
import { shellWord } from "../output/shell-word.ts";

type Key = StatusObject<"PlatformKey">;
type Gateway = StatusObject<"ModelGateway">;

/**
 * What a newcomer is shown once it runs: the declared keys, calls to paste that read a key from its Secret, and the way to
 * the console.
 *
 * @param link signs in to the console once
 */
export async function welcome(data: string, url: string, link: string): Promise<string> {
  const keys = (await readStatusFiles(data, "PlatformKey")).filter(isReady);
  const gateways = (await readStatusFiles(data, "ModelGateway")).filter(isReady);
  const lines = ["", await keyTable(data), ""];

  // A key that serves many subjects says in each call whose memory it means.
  const [writer] = keysWith(
    keys.filter(({ spec }) => spec?.subjectAccess?.mode !== "Required"),
    "memory:write",
  );
  if (writer !== undefined) {
    lines.push(
      "# remember something, and find it again",
      `${curl(data, writer)} ${json({ content: "The deploy freeze ends on Monday." })} ${url}/atoms`,
      `${curl(data, writer)} '${url}/atoms/search?q=deploy'`,
      "",
    );
  }
  const call = routeCall(keysWith(keys, "gateway:generate", "gateway:routes"), gateways);
  if (call !== undefined) {
    const { caller, headers, body, publicId, path } = call;
    lines.push(
      "# ask a model by the name of a route",
      [curl(data, caller), ...headers, json(body), shellWord(`${url}/g/${publicId}/${path}`)].join(" "),
      "",
    );
  }
  lines.push(
    `# open the console, once within ten minutes; for another link: keyplane console --data ${shellWord(data)}`,
    link,
    "",
  );
  return lines.join("\n");
}

function isReady({ status }: Key | Gateway): boolean {
  return findCondition(status?.conditions, "Ready")?.status === "True";
}

function keysWith(keys: readonly Key[], ...scopes: Scope[]): Key[] {
  return keys.filter(({ status }) => scopes.every((scope) => status?.effectiveScopes?.includes(scope)));
}

/** A call of a route by the first key that may make it. */
function routeCall(keys: readonly Key[], gateways: readonly Gateway[]) {
  for (const caller of keys) {
    for (const { metadata, spec, status } of gateways) {
      const { gatewayRef, allowedModels } = caller.spec ?? {};
      const { namespace, name = metadata.name } = { namespace: caller.metadata.namespace, ...gatewayRef };
      if (metadata.namespace !== namespace || metadata.name !== name) continue;
      const route = spec?.routes.find(({ model }) => allowedModels?.includes(model) ?? true);
      const dialect = spec?.upstreams.find((upstream) => upstream.name === route?.upstream)?.dialect;
      if (route === undefined || dialect === undefined) continue;
      return { caller, publicId: status?.publicID, ...helloTo(route.model, dialect) };
    }
  }
  return undefined;
}

type Call = { readonly path: string; readonly headers: readonly string[]; readonly body: object };

/** In the format of the upstream that the route leads to: nothing is translated. */
function helloTo(model: string, dialect: Dialect): Call {
  const messages = [{ role: "user", content: "Hello" }];
  switch (dialect) {
    case "openai":
      return { path: "v1/chat/completions", headers: [], body: { model, messages } };
    case "anthropic": {
      const headers = ["-H 'anthropic-version: 2023-06-01'"];
      return { path: "v1/messages", headers, body: { model, max_tokens: 1_000, messages } };
    }
    case "gemini": {
      const path = `v1beta/models/${encodeURIComponent(model)}:generateContent`;
      return { path, headers: [], body: { contents: [{ role: "user", parts: [{ text: "Hello" }] }] } };
    }
  }
}

/** The header comes from a file descriptor: a key in an argument would be in the list of processes. */
function curl(data: string, { metadata, status }: Key): string {
  const { name = metadata.name, dataKey = "api-key" } = status?.secretRef ?? {};
  const file = join(data, "secrets", metadata.namespace, name, dataKey);
  return `curl -s -H @<(printf 'Authorization: Bearer %s' "$(cat ${shellWord(file)})")`;
}

function json(body: unknown): string {
  return `-H 'Content-Type: application/json' -d ${shellWord(JSON.stringify(body))}`;
}
