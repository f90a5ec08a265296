import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { claimEmbedding, takeBatch } from "../../../memory/store/embedding/embedding-leases.ts";
import { insertAtom } from "../../../memory/store/writes/atom-writes.ts";
import { openLibrary } from "../../../store/libraries/reachable-libraries.ts";
import { eraseSubject } from "../../../store/libraries/subjects.ts";
import { describeOnEachEngineWithVectors } from "../../env/database/engines.ts";
import { run } from "../../store/fixtures.ts";
import { PLAIN } from "../store/plain-atom.ts";
import { startEmbeddedLibrary } from "./embedded-library.ts";
import { startEmbeddingUpstream, textsOf } from "./embedding-upstream.ts";

describeOnEachEngineWithVectors("A subject that is erased while its atoms wait for their vectors", (store) => {
  test("b430: has none of them sent to the library's model any more", async (context) => {
    const upstream = await startEmbeddingUpstream(context);
    const library = await startEmbeddedLibrary(context, store(), { upstream });
    const reach = { ...library.reach, subject: "user-1" };
    await library.declare();
    await library.embedded();
    const { draft, libraryId, home } = library;
    // Saved and erased in one transaction: no worker can have taken it in between.
    await run(store(), async (tx) => {
      const into = (await openLibrary(tx, reach, libraryId)) ?? "";
      await insertAtom(tx, reach, { ...PLAIN, content: "user-1 has diabetes", libraryId: into, at: Date.now() });
      const erasure = {
        library: { ...draft.library, teamId: home.teamId },
        subject: "user-1",
        by: { actor: "a test" },
      };
      expect(await eraseSubject(tx, erasure)).toBe(true);
    });
    const later = await library.save("the car is red");
    await library.until("the atom that was saved later has its vector", async () =>
      (await library.vectors()).some(({ id }) => id === later),
    );
    // Whichever worker had its turn: nothing of the erased subject was asked about.
    const lease = await claimEmbedding(store(), randomUUID());
    const left = lease === undefined ? [] : await takeBatch(store(), lease);
    expect(left.flatMap(({ passages }) => passages)).not.toContain("user-1 has diabetes");
    expect(upstream.received.flatMap(textsOf)).not.toContain("user-1 has diabetes");
  });
});
