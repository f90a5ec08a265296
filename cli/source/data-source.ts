import { join } from "node:path";
import { watchTree } from "../../controller/cluster/files/tree-watch.ts";
import type { Kind } from "../../domain/kinds/kinds.ts";
import { systemClock } from "../../runtime/clock.ts";
import { isRunning } from "../data/data-folder.ts";
import { heldGroups, heldReasons, heldText } from "../data/held.ts";
import { readStatusFiles, type StatusObject } from "../data/status-files.ts";
import { openManagement } from "../management/management-client.ts";
import { auditEvents } from "./audit-events.ts";
import { changesOf } from "./changes.ts";
import { type ListedObject, matchesFilter, type Source } from "./source.ts";

/** Why an object goes on though its declaration is gone or faulty. */
const HELD_ANNOTATION = "keyplane.dev/held";
const NOT_RUNNING =
  "keyplane up is not running on this folder: this is how it left things, and nothing is reconciled or served";

/** What `keyplane up` shows in its data folder, whether it runs or not. */
export function dataSource(data: string): Source {
  return {
    from: "data",
    async list(kind, wanted) {
      const found = (await readStatusFiles(data, kind)).filter((object) => matchesFilter(wanted, object));
      const [reasons, isUp] = [await heldReasons(data), await mayRun(data)];
      return found.map((object) => {
        const why = reasons.get(`${kind}/${object.metadata.namespace}/${object.metadata.name}`);
        return seenFile(kind, object, why === undefined || isUp ? why : `when keyplane up ended: ${why}`);
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

/** A process that may not write in the folder cannot try its lock, and assumes that `up` runs. */
function mayRun(data: string): Promise<boolean> {
  return isRunning(data).catch(() => true);
}

/** What belongs to the whole cluster has no namespace, not an empty one. What is held says so in an annotation. */
function seenFile<K extends Kind>(kind: K, object: StatusObject<K>, held: string | undefined): ListedObject<K> {
  const { namespace, ...rest } = object.metadata;
  const annotations = held === undefined ? {} : { annotations: { [HELD_ANNOTATION]: held } };
  const json = { ...object, metadata: { ...rest, ...(namespace === "" ? {} : { namespace }), ...annotations } };
  return { kind, metadata: object.metadata, spec: object.spec, status: object.status, json };
}
