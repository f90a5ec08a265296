import { join } from "node:path";
import type { Dialect } from "../../domain/access/key-record.ts";
import type { Scope } from "../../domain/access/scopes.ts";
import { findCondition } from "../../domain/conditions.ts";
import { shellWord } from "../../domain/shell-word.ts";
import { readStatusFiles, type StatusObject } from "../data/status-files.ts";
import { keyTable } from "../get/get.ts";

type Key = StatusObject<"PlatformKey">;
type Gateway = StatusObject<"ModelGateway">;
type Library = StatusObject<"MemoryLibrary">;
type Team = StatusObject<"PlatformTeam">;

/** Data that {@link welcome} shows. */
export type Welcome = {
  /** Data folder as an absolute path: commands with it are pasted in any folder. */
  readonly data: string;
  readonly url: string;
  /** URL that signs in to the console once. */
  readonly link: string;
  /** Command that prints another such URL. */
  readonly linkCommand: string;
  /** Command that prints the keys. */
  readonly listCommand: string;
  /** Number of declared objects that have not been reconciled yet; null if it is not known what is declared. */
  readonly waiting: number | null;
};

/**
 * Returns the text for a newcomer: the declared keys, calls to paste that read a key from its Secret, and the URL of
 * the console.
 */
export async function welcome({ data, url, link, linkCommand, listCommand, waiting }: Welcome): Promise<string> {
  const shown = await readStatusFiles(data, "PlatformKey");
  const keys = shown.filter(isReady);
  const declaredGateways = await readStatusFiles(data, "ModelGateway");
  const gateways = declaredGateways.filter(isReady);
  const libraries = (await readStatusFiles(data, "MemoryLibrary")).filter(isReady);
  const teams = await readStatusFiles(data, "PlatformTeam");
  const lines = shown.length > 0 || waiting === 0 ? ["", await keyTable(data), ""] : [""];
  if (waiting !== 0) {
    const what = waiting === null ? "what is declared is" : waiting === 1 ? "1 object is" : `${waiting} objects are`;
    lines.push(`# ${what} not looked at yet; to see the keys`, listCommand, "");
  }

  const unready = declaredGateways.flatMap((gateway) => unreadyLine(gateway) ?? []);
  if (unready.length > 0) lines.push(...unready, "");

  // A key that serves many subjects says in each call whose memory it means.
  const writers = keysWith(keys, "memory:write").filter(({ spec }) => spec?.subjectAccess?.mode !== "Required");
  // One that reaches every library first: what it saves, the team's other keys find where they look.
  const widest = writers.toSorted((a, b) => Number(isRestricted(a)) - Number(isRestricted(b)));
  const [save] = widest.flatMap((writer) => savedBy(writer, libraries, teams) ?? []);
  if (save !== undefined) {
    const atom = { content: "The deploy freeze ends on Monday.", ...save.into };
    lines.push(
      "# remember something, and find it again",
      `${curl(data, save.writer)} ${json(atom)} ${shellWord(`${url}/atoms`)}`,
      `${curl(data, save.writer)} ${shellWord(`${url}/atoms/search?q=deploy`)}`,
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
  lines.push("# open the console, once within ten minutes", link, "# for another link", linkCommand, "");
  return lines.join("\n");
}

function isReady({ status }: Key | Gateway | Library): boolean {
  return findCondition(status?.conditions, "Ready")?.status === "True";
}

/** Returns why a gateway is not ready, as a comment of one line; undefined if it is not known to be unready. */
function unreadyLine({ metadata, status }: Gateway): string | undefined {
  const ready = findCondition(status?.conditions, "Ready");
  if (ready?.status !== "False") return undefined;
  const message = ready.message.replaceAll(/\s+/g, " ");
  return `# the gateway ${metadata.namespace}/${metadata.name} is not ready: ${message}`;
}

function keysWith(keys: readonly Key[], ...scopes: Scope[]): Key[] {
  return keys.filter(({ status }) => scopes.every((scope) => status?.effectiveScopes?.includes(scope)));
}

function isRestricted({ spec }: Key): boolean {
  return spec?.libraryAccess?.mode === "Restricted";
}

/**
 * Returns the fields with which a key's save names a library: none if there is a default library. Undefined if the key
 * reaches no library.
 */
function savedBy(writer: Key, libraries: readonly Library[], teams: readonly Team[]) {
  const { libraryAccess, mcpDefaultLibraryRef } = writer.spec ?? {};
  if (mcpDefaultLibraryRef !== undefined) return { writer, into: {} };
  const team = teams.find(({ metadata }) => metadata.name === writer.status?.team);
  const reached = libraries.filter(({ metadata, status }) =>
    isRestricted(writer)
      ? libraryAccess?.libraryRefs?.some(
          ({ name, namespace = writer.metadata.namespace }) =>
            name === metadata.name && namespace === metadata.namespace,
        )
      : status?.team === writer.status?.team,
  );
  const ofTeam = team?.spec?.mcpAgentPolicy?.defaultLibraryRef;
  const isReached = reached.some(
    ({ metadata }) => metadata.name === ofTeam?.name && metadata.namespace === ofTeam.namespace,
  );
  if (isReached) return { writer, into: {} };
  const [library] = reached;
  return library && { writer, into: { library: `${library.metadata.namespace}/${library.metadata.name}` } };
}

/** Returns a call of a route, by the first key that may make it. */
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

/** Returns a call in the format of the route's upstream, since nothing is translated. */
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

/**
 * Returns the beginning of a curl command. The header comes from a file descriptor: as an argument, the key would be in
 * the list of processes.
 */
function curl(data: string, { metadata, status }: Key): string {
  const { name = metadata.name, dataKey = "api-key" } = status?.secretRef ?? {};
  const file = join(data, "secrets", metadata.namespace, name, dataKey);
  return `curl -s -H @<(printf 'Authorization: Bearer %s' "$(cat ${shellWord(file)})")`;
}

function json(body: unknown): string {
  return `-H 'Content-Type: application/json' -d ${shellWord(JSON.stringify(body))}`;
}
