import { join } from "node:path";
import type { Scope } from "../../domain/access/scopes.ts";
import { findCondition } from "../../domain/conditions.ts";
import { readStatusFiles, type StatusObject } from "../data/status-files.ts";
import { keyTable } from "../get/get.ts";
import { shellWord } from "../output/shell-word.ts";

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
  const writer = keyWith(
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
  const caller = keyWith(keys, "gateway:generate", "gateway:routes");
  const gateway = gateways.find(({ metadata }) => metadata.namespace === caller?.metadata.namespace);
  const model = gateway?.spec?.routes[0]?.model;
  if (caller !== undefined && gateway !== undefined && model !== undefined) {
    const body = { model, messages: [{ role: "user", content: "Hello" }] };
    lines.push(
      "# ask a model by the name of a route",
      `${curl(data, caller)} ${json(body)} ${url}/g/${gateway.status?.publicID}/v1/chat/completions`,
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

function isReady({ status }: StatusObject<"PlatformKey"> | StatusObject<"ModelGateway">): boolean {
  return findCondition(status?.conditions, "Ready")?.status === "True";
}

function keyWith(
  keys: readonly StatusObject<"PlatformKey">[],
  ...scopes: Scope[]
): StatusObject<"PlatformKey"> | undefined {
  return keys.find(({ status }) => scopes.every((scope) => status?.effectiveScopes?.includes(scope)));
}

/** The header comes from a file descriptor: a key in an argument would be in the list of processes. */
function curl(data: string, { metadata, status }: StatusObject<"PlatformKey">): string {
  const { name = metadata.name, dataKey = "api-key" } = status?.secretRef ?? {};
  const file = join(data, "secrets", metadata.namespace, name, dataKey);
  return `curl -s -H @<(printf 'Authorization: Bearer %s' "$(cat ${shellWord(file)})")`;
}

function json(body: unknown): string {
  return `-H 'Content-Type: application/json' -d ${shellWord(JSON.stringify(body))}`;
}
