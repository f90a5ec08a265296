import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { keyDigest } from "../../domain/key/secret/key-format.ts";
import type { Store } from "../../store/database/store.ts";
import type { StartedKubernetes } from "../env/kubernetes.ts";
import { NAMESPACES } from "./model.ts";
import { hex } from "./probers.ts";
import type { RuleBreach } from "./rules.ts";
import { keysPath, secretsPath, TEAMS_PATH, type WatchedObject } from "./watch.ts";
import { writesOf } from "./writes.ts";

/** Where to look whether anything is written. */
export type Quiet = {
  readonly admin: { list(path: string): Promise<WatchedObject[]> };
  readonly world: { readonly store: Store; readonly kubernetes: Pick<StartedKubernetes, "auditLog"> };
};

/** The next moment at which time alone changes something, in milliseconds since the epoch; undefined for none. */
export async function nextDeadline({ world }: Pick<Quiet, "world">): Promise<number | undefined> {
  const { rows } = await sql<{ until: number | null }>`
    select (extract(epoch from min(t)) * 1000)::float8 as until from key_versions v join keys k on k.id = v.key_id,
      lateral (values (k.expires_at), (v.expires_at), (case when v.state = 'retiring' then v.retire_at end)) as d (t)
    where k.state <> 'revoked' and v.state in ('reserved', 'active', 'retiring')
      and t > now() - interval '1 second'`.execute(world.store.db);
  return rows[0]?.until ?? undefined;
}

/**
 * What is written from now on for so many milliseconds: at rest it is nothing any more, to no object, to no Secret, to no
 * row that the feed reports (I8). That a key was used for the first time in a day may be reported.
 */
export async function findNoise(quiet: Quiet, controllerUser: string, lasts: number): Promise<RuleBreach[]> {
  const [before, since] = [await stateOf(quiet), Date.now()];
  await delay(lasts);
  const until = Date.now();
  const after = await stateOf(quiet);
  const changed = [...after].filter(([subject, now]) => before.get(subject)?.version !== now.version);
  const noise: RuleBreach[] = [];
  const used = changed.filter(([subject, now]) => before.get(subject)?.text === now.text).map(([subject]) => subject);
  for (const [subject, now] of changed) {
    if (used.includes(subject)) continue;
    const how = difference(before.get(subject)?.text, now.text);
    noise.push({ subject, what: `it changed while all was at rest: ${how}` });
  }
  for (const { at, verb, resource, part, namespace, name } of await writesOf(quiet.world.kubernetes, controllerUser)) {
    if (at < since || at > until || used.includes(`${namespace}/${name}`)) continue;
    const when = `${Math.round((at - since) / 100) / 10} s into the silence`;
    noise.push({ subject: `${namespace}/${name}`, what: `a ${verb} of ${resource}${part} ${when}` });
  }
  return noise;
}

/** What of two texts is not in both, from the first character on. */
function difference(before = "", after: string): string {
  let same = 0;
  while (same < after.length && before[same] === after[same]) same++;
  const around = (text: string) => text.slice(Math.max(0, same - 60), same + 400);
  return JSON.stringify(`${around(before)} -> ${around(after)}`);
}

type State = { readonly version: string; readonly text: string };

async function stateOf({ admin, world }: Quiet): Promise<Map<string, State>> {
  const kinds = "/apis/keyplane.dev/v1alpha1/namespaces";
  const collections = NAMESPACES.flatMap((namespace) => [
    keysPath(namespace),
    secretsPath(namespace),
    `${kinds}/${namespace}/modelgateways`,
    `${kinds}/${namespace}/memorylibraries`,
  ]);
  const state = new Map<string, State>();
  for (const path of [TEAMS_PATH, ...collections]) {
    const objects = await admin.list(path);
    const isKey = path.endsWith("/platformkeys");
    for (const { metadata, spec, data, status } of objects) {
      const { namespace, name, generation, resourceVersion } = metadata;
      const text = JSON.stringify([generation, spec, data && hex(keyDigest(JSON.stringify(data))), status], withoutUse);
      state.set(isKey ? `${namespace}/${name}` : `${path}/${name}`, { version: resourceVersion, text });
    }
  }
  const { rows } = await sql<{ head: string; last: string }>`select head::text as head, (
      select string_agg(kind || ' ' || coalesce(k.namespace || '/' || k.name, ref), ', ' order by seq desc)
      from (select * from changes order by seq desc limit 3) c left join keys k on k.id = c.ref
    ) || '; audit: ' || (
      select string_agg(concat_ws(' ', kind, k.name, detail), ', ' order by a.id desc)
      from (select * from audit_events order by id desc limit 3) a left join keys k on k.id = a.key_id
    ) as last from feed`.execute(world.store.db);
  for (const { head, last } of rows) state.set("the feed", { version: head, text: `${head}: ${last}` });
  return state;
}

const withoutUse = (field: string, value: unknown) => (field === "lastUsedTime" ? undefined : value);
