import { sql } from "kysely";
import type { Author } from "../audit/audit.ts";
import type { Tx } from "../database/change.ts";
import { newId } from "../database/ids.ts";
import { auditObject } from "../objects/audit-objects.ts";
import { endEmbedding } from "./library-embedding.ts";
import { endExtraction } from "./library-extraction.ts";

export type LibraryDraft = {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  /** Its incarnation: another one after a deletion, even where the atoms were taken up again. */
  readonly ownerUid: string;
  readonly teamId: string;
  readonly displayName: string;
  readonly description: string;
  readonly deletionPolicy: "Retain" | "Delete";
  /** For the audit log. */
  readonly by?: Author;
};

/**
 * Stores a library as declared. It is known by its name and team: one that was deleted with its atoms retained is taken
 * up again, while another team that gets the namespace begins an empty one.
 */
export function saveLibrary(tx: Tx, draft: LibraryDraft): Promise<{ libraryId: string }> {
  const { cluster, namespace, name, teamId, by } = draft;
  const where = { cluster, namespace, name, teamIds: [teamId] };
  return auditObject(tx, { kind: "library", where, by, task: () => saveLibraryRow(tx, draft) });
}

async function saveLibraryRow(tx: Tx, draft: LibraryDraft): Promise<{ libraryId: string }> {
  const { cluster, namespace, name, teamId } = draft;
  // A namespace is one team's at a time. What has none is its own team's, and no other's.
  const others = await tx
    .updateTable("libraries")
    .set({ state: "retained", owner_uid: null })
    .where("cluster", "=", cluster)
    .where("namespace", "=", namespace)
    .where("namespace", "<>", "")
    .where("name", "=", name)
    .where("team_id", "<>", teamId)
    .where("state", "=", "active")
    .returning("id")
    .execute();
  for (const { id } of others) {
    await endEmbedding(tx, id, "Moved");
    await endExtraction(tx, id, "Moved");
  }
  await sql`
    insert into libraries (id, cluster, namespace, name, team_id, owner_uid, display_name, description,
      deletion_policy, state)
    values (${newId("lib")}, ${cluster}, ${namespace}, ${name}, ${teamId}, ${draft.ownerUid}, ${draft.displayName},
      ${draft.description}, ${draft.deletionPolicy}, 'active')
    on conflict (cluster, namespace, name, team_id) do update set owner_uid = excluded.owner_uid,
      display_name = excluded.display_name, description = excluded.description,
      deletion_policy = excluded.deletion_policy, state = excluded.state
    where (libraries.owner_uid, libraries.display_name, libraries.description, libraries.deletion_policy,
        libraries.state)
      is distinct from (excluded.owner_uid, excluded.display_name, excluded.description, excluded.deletion_policy,
        excluded.state)`.execute(tx);
  const { id } = await tx
    .selectFrom("libraries")
    .select("id")
    .where("cluster", "=", cluster)
    .where("namespace", "=", namespace)
    .where("name", "=", name)
    .where("team_id", "=", teamId)
    .executeTakeFirstOrThrow();
  return { libraryId: id };
}

/**
 * Removes a library: out of reach at once; with `Delete` its atoms go too, and for ever, bit by bit
 * (deleted-libraries.ts), and its name is free. One that a later declaration of the same name has taken up is
 * another's by now, and stays.
 */
export function removeLibrary(tx: Tx, removal: LibraryRemoval): Promise<void> {
  const { cluster, ownerUid, policy, by } = removal;
  const detail = { atoms: policy === "Delete" ? "deleted" : "retained" };
  const task = () => removeLibraryRow(tx, removal);
  return auditObject(tx, { kind: "library", where: { cluster, ownerUid }, by, task, detail });
}

type LibraryRemoval = {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly ownerUid: string;
  readonly policy: "Retain" | "Delete";
  /** For the audit log. */
  readonly by?: Author;
};

async function removeLibraryRow(tx: Tx, removal: LibraryRemoval): Promise<void> {
  const { cluster, namespace, name, ownerUid, policy } = removal;
  const declared = { cluster, namespace, name, owner_uid: ownerUid, state: "active" };
  const ending = await tx
    .selectFrom("libraries")
    .select("id")
    .where((is) => is.and(declared))
    .execute();
  for (const { id } of ending) {
    await endEmbedding(tx, id);
    await endExtraction(tx, id);
  }
  if (policy === "Delete") {
    await tx
      .updateTable("libraries")
      // The uid stays: by it the declaration's end is known to be under way.
      .set(({ ref }) => ({ state: "deleted", name: ref("id") }))
      .where((is) => is.and(declared))
      .execute();
    return;
  }
  await tx
    .updateTable("libraries")
    .set({ state: "retained", owner_uid: null })
    .where((is) => is.and(declared))
    .execute();
}
