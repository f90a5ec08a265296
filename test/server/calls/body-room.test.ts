import { describe, expect, test } from "vitest";
import { type BodyHolder, BodyRoom } from "../../../server/calls/body-room.ts";

/** So that a key's part is 100 bytes, and a team's 200. */
const LIMIT = 800;

const holder = (keyId: string, teamId = "team"): BodyHolder => ({ keyId, teamId });

/** A room, and what asks it for bytes as a list of bodies does. */
function open() {
  const bodies: { holder: BodyHolder; room: BodyRoom; bytes: number }[] = [];
  const room = new BodyRoom(LIMIT, bodies);
  /** Puts a body there, which is to have room. */
  const put = (who: BodyHolder, bytes: number) => {
    expect(room.boundOf(who, 0, bytes)).toBeUndefined();
    const body = { holder: who, room, bytes };
    bodies.push(body);
    room.change(who, bytes);
    return body;
  };
  const end = (body: (typeof bodies)[number]) => {
    bodies.splice(bodies.indexOf(body), 1);
    room.change(body.holder, -body.bytes);
  };
  return { room, put, end };
}

describe("a room for bodies", () => {
  test("takes any body while all together have no more than one key may", () => {
    const { room, put } = open();
    put(holder("a"), 60);
    expect(room.boundOf(holder("a"), 0, 40)).toBeUndefined();
    expect(room.held).toBe(60);
  });

  test("lets a key have an eighth", () => {
    const { room, put } = open();
    put(holder("a"), 60);
    expect(room.boundOf(holder("a"), 0, 41)).toBe("key");
    expect(room.boundOf(holder("b"), 0, 100), "another key of the team").toBeUndefined();
  });

  test("lets the keys of a team have a quarter together", () => {
    const { room, put } = open();
    put(holder("a"), 100);
    put(holder("b"), 90);
    expect(room.boundOf(holder("c"), 0, 10)).toBeUndefined();
    expect(room.boundOf(holder("c"), 0, 11)).toBe("team");
    expect(room.boundOf(holder("c", "other team"), 0, 100)).toBeUndefined();
  });

  test("takes a body that is the only one of its key and team, be it larger than their parts", () => {
    const { room, put } = open();
    put(holder("a", "one"), 80);
    expect(room.boundOf(holder("b", "two"), 0, 700)).toBeUndefined();
    expect(room.boundOf(holder("b", "two"), 0, 721)).toBe("process");
  });

  test("counts a body that grows once: what it has there already is not another's", () => {
    const { room, put } = open();
    const body = put(holder("a"), 90);
    put(holder("b", "other team"), 90);
    expect(room.boundOf(body.holder, 90, 300)).toBeUndefined();
    expect(room.boundOf(body.holder, 0, 300), "beside it").toBe("key");
  });

  test("has the room again that a body leaves, for its key, its team and all", () => {
    const { room, put, end } = open();
    const bodies = [put(holder("a"), 90), put(holder("b"), 90)];
    expect(room.boundOf(holder("c"), 0, 90)).toBe("team");
    for (const body of bodies) end(body);
    expect(room.held).toBe(0);
    expect(room.boundOf(holder("c"), 0, LIMIT)).toBeUndefined();
  });

  test("counts the bodies of this room alone", () => {
    const others = new BodyRoom(LIMIT, []);
    const room = new BodyRoom(LIMIT, [{ holder: holder("a"), room: others, bytes: 500 }]);
    room.change(holder("b", "two"), 150);
    expect(room.boundOf(holder("a"), 0, 100)).toBeUndefined();
  });
});
