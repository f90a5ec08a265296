import { describe, expect, test } from "vitest";
import { type Answering, newerFirst, type PlacedAtom } from "../../../../../memory/store/search/ranking/newer-first.ts";

const OLDER = "The staging database listens on port 5433 of host tern.";
const NEWER = "Moved: the staging database is on host kestrel, port 6432 now.";
const LUNCH = "Lunch is at noon, in the room by the harbour.";
/** Texts of the same library, in which most of these words are rare. */
const SAMPLE = Array.from({ length: 50 }, (_, n) => `Note ${n} is about the roof of house ${n}.`);

/** As if saved so many days after the first. */
function atom(text: string, day: number, place: Partial<PlacedAtom> = {}): PlacedAtom {
  return { id: text, text, updatedMs: day * 86_400_000, closeness: 1, match: "nearest", isExtracted: false, ...place };
}

/** Asked for with many words, where no model compares the atoms. */
const QUESTION: Answering = { sample: SAMPLE, query: "", isQuestion: true, alike: () => undefined };

const orderedFor = async (answering: Partial<Answering>, ...atoms: PlacedAtom[]) =>
  (await newerFirst(atoms, { ...QUESTION, ...answering })).map(({ text }) => text);
const ordered = (...atoms: PlacedAtom[]) => orderedFor({}, ...atoms);

test("what is newer, and says so, comes before what is about the same", async () => {
  expect(await ordered(atom(OLDER, 0), atom(LUNCH, 3), atom(NEWER, 9, { closeness: 0.4 }))).toEqual([
    NEWER,
    OLDER,
    LUNCH,
  ]);
});

test("what is older stays behind", async () => {
  expect(await ordered(atom(NEWER, 9), atom(OLDER, 0))).toEqual([NEWER, OLDER]);
});

test("what a model took out of a conversation passes nothing that was written", async () => {
  const extracted = { isExtracted: true };
  expect(await ordered(atom(OLDER, 0), atom(NEWER, 9, extracted))).toEqual([OLDER, NEWER]);
  expect(await ordered(atom(OLDER, 0, extracted), atom(NEWER, 9, extracted))).toEqual([NEWER, OLDER]);
  expect(await ordered(atom(OLDER, 0, extracted), atom(NEWER, 9))).toEqual([NEWER, OLDER]);
});

test("what is newer and about something else stays behind", async () => {
  expect(await ordered(atom(OLDER, 0), atom(LUNCH, 9))).toEqual([OLDER, LUNCH]);
});

test("what is newer and about the same stays behind if it does not say that anything changed", async () => {
  const alike = "The staging database of host tern is backed up each night.";
  expect(await ordered(atom(OLDER, 0), atom(alike, 9))).toEqual([OLDER, alike]);
});

test("the less of what is asked for a newer one has, the more it has to be about the same", async () => {
  const passes = async (closeness: number) =>
    (await ordered(atom(OLDER, 0), atom(NEWER, 9, { closeness })))[0] === NEWER;
  expect(await passes(0.1)).toBe(true);
  expect(await passes(0.005)).toBe(false);
});

describe("a word of change", () => {
  const older = "Cards are processed by Kestrelpay, whose contract runs on by itself each May.";
  const newer = "From now on Nordhafen is asked first, and Kestrelpay only for refunds of orders before this spring.";
  const plain = newer.replace("From now on", "As agreed");

  test("has an atom pass what it is about, and less like it", async () => {
    expect(await ordered(atom(older, 0), atom(plain, 9))).toEqual([older, plain]);
    expect(await ordered(atom(older, 0), atom(newer, 9))).toEqual([newer, older]);
  });

  test.for([
    [
      "Los pagos con tarjeta los procesa Kestrelpay, cuyo contrato se renueva solo cada mayo.",
      "Ahora",
      "se pregunta primero a Nordhafen, y a Kestrelpay por devoluciones de pedidos anteriores a esta primavera.",
    ],
    [
      "Os cartões são processados pela Kestrelpay, cujo contrato se renova sozinho todos os anos em maio.",
      "Agora",
      "pergunta-se primeiro à Nordhafen, e à Kestrelpay apenas por devoluções de encomendas anteriores a esta primavera.",
    ],
    [
      "카드 결제는 Kestrelpay가 처리하고 계약은 해마다 오월에 자동으로 갱신된다.",
      "이제",
      "먼저 노르트하펜에 요청하고 Kestrelpay에는 지난봄까지 들어온 주문의 환불만 맡긴다.",
    ],
  ] as const)("counts in any of its languages: %s", async ([first, changed, rest]) => {
    const unchanged = `— ${rest}`;
    expect((await ordered(atom(first, 0), atom(unchanged, 9)))[0]).toBe(first);
    expect((await ordered(atom(first, 0), atom(`${changed} ${rest}`, 9)))[0]).toBe(`${changed} ${rest}`);
  });

  test("is about the older atom that is most like it, and about no other", async () => {
    const likest = "Kestrelpay is asked for refunds of older orders.";
    const places = [atom(older, 0), atom(likest, 1, { closeness: 0.5 }), atom(newer, 9, { closeness: 0.4 })];
    expect(await ordered(...places)).toEqual([older, newer, likest]);
  });

  test("counts for nothing in a long text, nor before one: either states more than one thing", async () => {
    const long = (text: string) => `${text}${" Lunch at noon.".repeat(25)}`;
    expect(await ordered(atom(older, 0), atom(long(newer), 9))).toEqual([older, long(newer)]);
    expect(await ordered(atom(long(older), 0), atom(newer, 9))).toEqual([long(older), newer]);
  });
});

describe("another number of what is asked for", () => {
  const query = "After how many minutes is a pipeline job killed?";
  const older = "A pipeline job on rook is killed after 40 minutes.";
  const newer =
    "Radek shortened the limit: jobs get twenty-five minutes, and the integration suite may ask for an hour.";
  const places = (text: string) => [atom(older, 0, { closeness: 0.6 }), atom(text, 9, { closeness: 0.2 })];
  // Minutes are frequent there, jobs less so.
  const sample = SAMPLE.map(
    (text, n) => `${text}${n % 2 === 0 ? " It took minutes." : ""}${n % 25 === 0 ? " A job." : ""}`,
  );

  test("has an atom pass what it says a word of change about, though little else is the same", async () => {
    expect(await orderedFor({ query, sample }, ...places(newer))).toEqual([newer, older]);
  });

  test("counts only where a number is asked for, and another one stands there", async () => {
    expect((await orderedFor({ query: "Is a pipeline job killed, and when?", sample }, ...places(newer)))[0]).toBe(
      older,
    );
    const same = newer.replace("twenty-five", "40");
    expect((await orderedFor({ query, sample }, ...places(same)))[0]).toBe(older);
  });

  test("counts for nothing where nothing else that is asked for is the same, nor in a long text", async () => {
    const other = newer.replace("jobs get", "guests get");
    expect((await orderedFor({ query, sample }, ...places(other)))[0]).toBe(older);
    expect((await orderedFor({ query, sample }, ...places(`${newer}${" Lunch at noon.".repeat(25)}`)))[0]).toBe(older);
  });
});

test("the plural of a short word is the same word", async () => {
  const [one, many] = ["The job on rook was killed.", "Jobs run all night now."];
  expect(await ordered(atom(one, 0), atom(many, 9))).toEqual([many, one]);
});

test("what has all words as they stand gives way to what has not, only where a question was asked", async () => {
  const [exact, similar] = [atom(OLDER, 0, { match: "words" }), atom(NEWER, 9, { match: "similar" })];
  expect(await ordered(exact, similar)).toEqual([NEWER, OLDER]);
  expect(await orderedFor({ isQuestion: false }, exact, similar)).toEqual([OLDER, NEWER]);
  expect(await orderedFor({ isQuestion: false }, exact, { ...similar, match: "words" })).toEqual([NEWER, OLDER]);
});

test("what a model takes for the same is passed, whatever the words are, and what it does not is not", async () => {
  const french = "La base de données de préproduction écoute sur le port 6432.";
  const [exact, newer] = [atom(OLDER, 0, { match: "words" }), atom(french, 9, { closeness: 0.3 })];
  const says = (alike: number | undefined) => orderedFor({ isQuestion: false, alike: () => alike }, exact, newer);
  expect(await says(0.8)).toEqual([french, OLDER]);
  for (const alike of [0.6, undefined]) expect(await says(alike)).toEqual([OLDER, french]);
});

test("none is lost and none is there twice, however many there are", async () => {
  const many = Array.from({ length: 120 }, (_, n) => atom(n % 2 === 0 ? OLDER : NEWER, (n * 7) % 50, { id: `${n}` }));
  const ids = (await newerFirst(many, QUESTION)).map(({ id }) => id);
  expect(ids).toHaveLength(120);
  expect(new Set(ids)).toEqual(new Set(many.map(({ id }) => id)));
});

test("atoms without a word in common, or without any word, keep their order", async () => {
  expect(await ordered(atom("", 0), atom("", 1), atom("？", 2))).toEqual(["", "", "？"]);
  expect(await newerFirst([], QUESTION)).toEqual([]);
});
