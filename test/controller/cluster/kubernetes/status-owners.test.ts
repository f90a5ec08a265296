import { describe, expect, test } from "vitest";
import { createStatusOwners, type StatusOwners } from "../../../../controller/cluster/kubernetes/status-owners.ts";
import type { DeclaredObject, ObjectStatus } from "../../../../controller/cluster/port.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** An object as the API server has it, and a clock. */
function world(kind: "PlatformTeam" | "MemoryLibrary" = "PlatformTeam") {
  let now = 0;
  let generation = 1;
  let status: ObjectStatus | undefined;
  const lines: string[] = [];
  const object = (): DeclaredObject => ({
    kind,
    namespace: kind === "PlatformTeam" ? "" : "dev",
    ...{ name: "research", uid: "uid-1", generation, resourceVersion: "1", createdAt: 0, deleting: false },
    ...{ finalizers: [], takeOver: null, labels: {}, status },
    spec: kind === "PlatformTeam" ? { namespaces: [], members: [], webhooks: [] } : { deletionPolicy: "Retain" },
  });
  const controller = (name: string, serves: boolean) =>
    createStatusOwners({
      name,
      serves: () => serves,
      clock: { monotonic: () => now },
      log: (level, message) => lines.push(`${level} ${message}`),
    });
  return {
    lines,
    controller,
    pass: (ms: number) => {
      now += ms;
    },
    edit: () => {
      generation++;
    },
    /** Has a controller look, and write what it finds unless it leaves the status alone. Whether it wrote. */
    look(owners: StatusOwners, found: ObjectStatus): boolean {
      const before = object();
      const wanted = { ...found, observedGeneration: generation, controllerName: owners.name };
      if (status?.controllerName === owners.name && status?.observedGeneration === generation) return false;
      if (owners.leaves(before, wanted)) return false;
      status = wanted;
      owners.wrote(before);
      return true;
    },
    writer: () => status?.controllerName,
  };
}

const OF_ONE = { teamID: "team_1" };
const OF_OTHER = { teamID: "team_2" };

describe("a status that two controllers would write", () => {
  test("c70: is written by the one that serves a namespace of it, also where the other was first, and the other logs both names once", () => {
    const { controller, look, writer, lines } = world();
    const [serving, other] = [controller("a/lease", true), controller("b/lease", false)];
    expect(look(other, OF_OTHER)).toBe(true);
    expect(look(serving, OF_ONE)).toBe(true);
    for (let i = 0; i < 10; i++) expect(look(other, OF_OTHER)).toBe(false);
    expect(writer()).toBe("a/lease");
    expect(lines).toEqual([
      "info the controller of the Lease a/lease writes the status of PlatformTeam research, and the one of b/lease leaves it",
    ]);
  });

  test("c70: is written by the first where neither serves a namespace of it, until an edit that the first leaves alone", () => {
    const { controller, look, writer, pass, edit } = world();
    const [first, second] = [controller("a/lease", false), controller("b/lease", false)];
    expect(look(first, OF_ONE)).toBe(true);
    pass(HOUR);
    expect(look(second, OF_OTHER)).toBe(false);
    edit();
    expect(look(second, OF_OTHER), "the first has its time").toBe(false);
    expect(look(first, OF_ONE)).toBe(true);
    pass(HOUR);
    edit();
    expect(look(second, OF_OTHER)).toBe(false);
    pass(20_000);
    expect(look(second, OF_OTHER), "the first has ended").toBe(true);
    expect(look(first, OF_ONE)).toBe(false);
    expect(writer()).toBe("b/lease");
  });

  test("c70: of a team that both serve is fought for twice, and stays the first one's", () => {
    const { controller, look, writer, pass, edit } = world();
    const [first, second] = [controller("a/lease", true), controller("b/lease", true)];
    look(first, OF_ONE);
    const writes = () => [look(second, OF_OTHER), look(first, OF_ONE)].filter(Boolean).length;
    const tried = Array.from({ length: 10 }, () => {
      pass(HOUR);
      return writes();
    });
    expect(tried).toEqual([2, 2, ...Array(8).fill(0)]);
    expect(writer()).toBe("a/lease");
    edit();
    pass(HOUR);
    expect(look(second, OF_OTHER), "the first has ended").toBe(true);
  });

  test("c70: of what both serve by mistake is fought for ever more rarely, until one of them ends", () => {
    const { controller, look, writer, pass, lines } = world("MemoryLibrary");
    const [first, second] = [controller("a/lease", true), controller("b/lease", true)];
    look(first, {});
    const writes = () => [look(second, {}), look(first, {})].filter(Boolean).length;
    const within = (ms: number) => {
      let count = 0;
      for (let at = 0; at < ms; at += 10_000) {
        count += writes();
        pass(10_000);
      }
      return count;
    };
    expect(Array.from({ length: 10 }, writes)).toEqual([2, 2, ...Array(8).fill(0)]);
    expect(within(HOUR)).toBeLessThan(14);
    expect(within(24 * HOUR)).toBeLessThan(60);
    expect(writer()).toBe("a/lease");
    expect(lines).toEqual([
      "warn the controllers of the Leases b/lease and a/lease both write the status of MemoryLibrary dev/research: keyplane doctor says whether they serve the same namespaces",
    ]);
    pass(HOUR);
    expect(look(second, {}), "the first has ended").toBe(true);
  });

  test("c70: is taken over from a controller of another name that has the same database", () => {
    const { controller, look } = world();
    expect(look(controller("a/lease-1", false), OF_ONE)).toBe(true);
    const renamed = controller("a/lease-2", false);
    expect(look(renamed, { ...OF_ONE, conditions: [] })).toBe(true);
    const invalid = { type: "Accepted", status: "False", reason: "Invalid" } as const;
    const condition = { ...invalid, message: "", observedGeneration: 1, lastTransitionTime: "" };
    const unreadable = { ...OF_ONE, conditions: [condition] };
    expect(look(controller("b/lease", false), unreadable), "it keeps the other's id").toBe(false);
  });
});
