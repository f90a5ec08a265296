import { join } from "node:path";
import { watchTree } from "../../controller/cluster/files/tree-watch.ts";
import type { Kind } from "../../domain/kinds/kinds.ts";
import { systemClock } from "../../runtime/clock.ts";
import { isRunning, readServerFile } from "../data/data-folder.ts";
import { heldGroups, heldReasons, heldText } from "../data/held.ts";
import { readStatusFiles, type StatusObject } from "../data/status-files.ts";
import { openManagement } from "../management/management-client.ts";
import { auditEvents } from "./audit-events.ts";
import { changesOf } from "./changes.ts";
import { type ListedObject, matchesFilter, type Source } from "./source.ts";

/** Annotation with the reason why an object stays although its declaration is gone or faulty. */
const HELD_ANNOTATION = "keyplane.dev/held";
const NOT_SERVING = "keyplane up has not begun to serve on this folder yet: this is how it left things";
const NOT_RUNNING =
  "keyplane up is not running on this folder: this is how it left things, and nothing is reconciled or served";

/** Creates the source of what `keyplane up` shows in its data folder, running or not. */
export function dataSource(data: string): Source {
  return {
    from: "data",
    async list(kind, wanted) {
      const found = (await readStatusFiles(data, kind)).filter((object) => matchesFilter(wanted, object));
      const [reasons, isUp] = [await heldReasons(data), await mayRun(data)];
      const notYet = (await readServerFile(data)) === undefined ? NOT_SERVING : undefined;
      const asLeft = isUp ? notYet : NOT_RUNNING;
      return found.map((object) => {
        const why = reasons.get(`${kind}/${object.metadata.namespace}/${object.metadata.name}`);
        const held = why === undefined || isUp ? why : `when keyplane up ended: ${why}`;
        const refused = held && `its last change is not applied: ${held}`;
        return { ...seenFile(kind, object, held), notCurrent: asLeft ?? refused };
      });
    },
    events: async (wanted) => auditEvents(await openManagement({}, { data }), wanted),
    async callers(keyId) {
      const client = await openManagement({}, { data });
      return (await client.getKey(keyId)).lastNetworks;
    },
    budgets: async (of, id) => (await openManagement({}, { data })).budgetsOf(of, id),
    async notes(kinds) {
      const isUp = await mayRun(data);
      const held = (await Promise.all(kinds.map((kind) => heldGroups(data, kind)))).flat();
      const said = held.map(({ titles, why }) => `${heldText(isUp)}: ${titles}\n  ${why}`);
      return isUp ? said : [...said, NOT_RUNNING];
    },
    changes: (_kinds, _wanted, signal) =>
      changesOf(async (notify) => {
        const look = async () => {
          notify();
          return undefined;
        };
        const path = join(data, "status");
        notify();
        await watchTree({ path, signal, clock: systemClock, look, onError: () => {} });
      }),
    close() {},
  };
}

/**
 * True if `up` runs on the folder. A process that may not write there cannot try the lock, and assumes that it does.
 */
function mayRun(data: string): Promise<boolean> {
  return isRunning(data).catch(() => true);
}

/**
 * Returns an object as listed. A cluster-wide object has no namespace, not an empty one; a held object has an
 * annotation.
 */
function seenFile<K extends Kind>(kind: K, object: StatusObject<K>, held: string | undefined): ListedObject<K> {
  const { namespace, ...rest } = object.metadata;
  const annotations = held === undefined ? {} : { annotations: { [HELD_ANNOTATION]: held } };
  const json = { ...object, metadata: { ...rest, ...(namespace === "" ? {} : { namespace }), ...annotations } };
  return { kind, metadata: object.metadata, spec: object.spec, status: object.status, json };
}
