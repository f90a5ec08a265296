import fc from "fast-check";
import { expect, test } from "vitest";
import { defaultLibraryOf, mayReachLibrary } from "../../../domain/access/library-access.ts";
import { keyRecord } from "../../server/harness.ts";

const library = fc.constantFrom("l1", "l2", "l3");
const list = fc.option(fc.array(library), { nil: null });
const optional = fc.option(library, { nil: null });

test("a restricted key reaches the libraries of its list alone, and an empty list none", () => {
  fc.assert(
    fc.property(list, library, (libraryIds, asked) => {
      expect(mayReachLibrary(keyRecord({ libraryIds }), asked)).toBe(libraryIds === null || libraryIds.includes(asked));
    }),
  );
});

test("the default is the key's own, then the team's, and never one that the key may not reach", () => {
  fc.assert(
    fc.property(list, optional, optional, (libraryIds, mcpDefaultLibraryId, teamDefaultLibraryId) => {
      const key = keyRecord({ libraryIds, mcpDefaultLibraryId, teamDefaultLibraryId });
      const meant = mcpDefaultLibraryId ?? teamDefaultLibraryId;
      const reachable = meant !== null && mayReachLibrary(key, meant);
      expect(defaultLibraryOf(key)).toBe(reachable ? meant : undefined);
    }),
  );
});
