import { DEFAULT_OVERLAP, type Overlap } from "../../../../domain/key/declaration/declared-key.ts";
import { exploreEach, NONE } from "./runs.ts";
import { HOUR, publishedInVain, reservedInVain, rotated } from "./world.ts";

const ADOPTION: Overlap = { mode: "Adoption", min: 8 * HOUR, max: 12 * HOUR, quiet: 6 * HOUR };

exploreEach(
  "a key that has several versions",
  [
    {
      name: "an old version that is left, or not, with a fault",
      from: rotated(ADOPTION),
      budget: { ...NONE, faults: 1, uses: 3 },
    },
    { name: "reservations in vain", from: reservedInVain(3), budget: { ...NONE, faults: 2, edits: 1 } },
    { name: "Secrets written in vain", from: publishedInVain(4), budget: { ...NONE, faults: 1, edits: 1 } },
    { name: "no room, and two edits", from: rotated(DEFAULT_OVERLAP, 4), budget: { ...NONE, edits: 2, faults: 1 } },
  ],
  [
    { name: "an old version that is left, or not", from: rotated(ADOPTION), budget: { ...NONE, uses: 4 } },
    { name: "two old versions that are left, or not", from: rotated(ADOPTION, 2), budget: { ...NONE, uses: 3 } },
    {
      name: "an old version that is left, or not, used for long",
      from: rotated(ADOPTION),
      budget: { ...NONE, uses: 5 },
    },
    { name: "the same, used for long, with a fault", from: rotated(ADOPTION), budget: { ...NONE, faults: 1, uses: 4 } },
    {
      name: "two old versions that are left, or not, used for long",
      from: rotated(ADOPTION, 2),
      budget: { ...NONE, uses: 4 },
    },
    {
      name: "an old version that is left, or not, with a change",
      from: rotated(ADOPTION),
      budget: { ...NONE, changes: 1, uses: 2 },
    },
    {
      name: "Secrets written in vain, with two faults",
      from: publishedInVain(4),
      budget: { ...NONE, faults: 2, edits: 1 },
    },
    {
      name: "room for one, an edit, a change and a fault",
      from: rotated(DEFAULT_OVERLAP, 3),
      budget: { ...NONE, faults: 1, edits: 1, changes: 1 },
    },
    {
      name: "reservations in vain, with a change",
      from: reservedInVain(3),
      budget: { ...NONE, faults: 2, edits: 1, changes: 1 },
    },
  ],
);
