import { exploreEach, NONE } from "./runs.ts";
import { declare, HOUR, newWorld } from "./world.ts";

const plain = newWorld(declare());
const rotatedDaily = newWorld(declare({ rotationInterval: 24 * HOUR }));
const reportedOn = newWorld(declare({ secret: { ...declare().secret, healTampered: false } }));

exploreEach(
  "a key from its declaration on",
  [
    { name: "an edit and two faults", from: plain, budget: { ...NONE, faults: 2, edits: 1 } },
    { name: "a change and a fault", from: plain, budget: { ...NONE, faults: 1, changes: 1 } },
    { name: "a key that is rotated every day", from: rotatedDaily, budget: { ...NONE, edits: 1 } },
    { name: "a key whose Secret is only reported on", from: reportedOn, budget: { ...NONE, edits: 1, changes: 1 } },
  ],
  [
    { name: "two edits and a fault", from: plain, budget: { ...NONE, faults: 1, edits: 2 } },
    { name: "two edits and two faults", from: plain, budget: { ...NONE, faults: 2, edits: 2 } },
    {
      name: "a key that is rotated every day, with a fault",
      from: rotatedDaily,
      budget: { ...NONE, faults: 1, edits: 1 },
    },
    {
      name: "a key whose Secret is only reported on, with a fault",
      from: reportedOn,
      budget: { ...NONE, faults: 1, edits: 1, changes: 1 },
    },
    { name: "a change, an edit and a fault", from: plain, budget: { ...NONE, faults: 1, edits: 1, changes: 1 } },
    { name: "two changes and a fault", from: plain, budget: { ...NONE, faults: 1, changes: 2 } },
    { name: "two changes and an edit", from: plain, budget: { ...NONE, edits: 1, changes: 2 } },
    { name: "two changes, an edit and a fault", from: plain, budget: { ...NONE, faults: 1, edits: 1, changes: 2 } },
    { name: "a change, two edits and a fault", from: plain, budget: { ...NONE, faults: 1, edits: 2, changes: 1 } },
    { name: "a change, an edit and two faults", from: plain, budget: { ...NONE, faults: 2, edits: 1, changes: 1 } },
  ],
);
