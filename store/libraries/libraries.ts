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
  /** Uid of the declaration. It is another after a deletion, even if the new library took up the old atoms. */
  readonly ownerUid: string;
  readonly teamId: string;
  readonly displayName: string;
  readonly description: string;
  readonly deletionPolicy: "Retain" | "Delete";
  /** Author, for the audit log. */
  readonly by?: Author;
};

/**
 * Stores a library as declared. Its name and team identify it: a library that was deleted with its atoms retained is
 * taken up again, while another team that gets the namespace begins an empty library.
 */
export function saveLibrary(tx: Tx, draft: LibraryDraft): Promise<{ libraryId: string }> {
  const { cluster, namespace, name, teamId, by } = draft;
  const where = { cluster, namespace, name, teamIds: [teamId] };
  return auditObject(tx, { kind: "library", where, by, task: () => saveLibraryRow(tx, draft) });
}

async function saveLibraryRow(tx: Tx, draft: LibraryDraft): Promise<{ libraryId: string }> {
  const { cluster, namespace, name, teamId } = draft;
  // A namespace belongs to one team at a time. A library without a namespace belongs to its own team alone.
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
 * Removes a library: it is out of reach at once. With `Delete`, its atoms are deleted for ever, slice by slice
 * (deleted-libraries.ts), and its name is free. A library that a later declaration of the same name has taken up stays.
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
  /** Author, for the audit log. */
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
      // The uid stays: it shows that the deletion for this declaration is in progress.
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
