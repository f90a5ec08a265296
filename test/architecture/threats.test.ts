import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, importsOf, read } from "./sources.ts";

/** `| b15 | what must hold | test/a.test.ts, test/b.test.ts |`, or `-` where no test proves it yet. */
const ROWS = [...read("docs/security/threats.md").matchAll(/^\| ([bc]\d+) \| (.+?) \| (.+?) \|$/gm)].map(
  ([, id = "", what = "", proof = ""]) => ({ id, what, proof }),
);
/** The rows that a test names: they begin its name, as in "b15: ...", "b34, b35: ..." and "b15-b17: ...". */
const NAMED = /["'`]((?:[bc]\d+(?:, | and |-)?)+): /g;
const named = new Map(
  filesBelow("test", ".test.ts")
    .filter((file) => !file.startsWith("test/architecture/"))
    .map((file) => [file, new Set(textsOf(file).flatMap(idsIn))]),
);

/** A test file's text, and that of the modules beside it whose tests it runs, or whose rows. */
function textsOf(file: string): string[] {
  const files = new Set([file]);
  for (const one of files) {
    for (const module of importsOf(one)) if (dirname(module) === dirname(file)) files.add(module);
  }
  return [...files].map(read);
}

function idsIn(text: string): string[] {
  return [...text.matchAll(NAMED)].flatMap(([, ids = ""]) => ids.split(/, | and |-/));
}

describe("docs/security/threats.md", () => {
  it("lists every abuse case and every fault once", () => {
    const extra = [
      "b145",
      "b146",
      "b147",
      "b148",
      "b149",
      "b150",
      "b151",
      "b152",
      "b153",
      "b154",
      "b155",
      "b156",
      "b157",
      "b160",
      "b161",
      "b162",
      "b163",
      "b164",
      "b165",
      "b166",
      "b170",
      "b171",
      "b172",
      "b173",
      "b174",
      "b175",
      "b176",
      "b177",
      "b178",
      "b179",
      "b180",
      "b181",
      "b182",
      "b183",
      "b184",
      "b185",
      "b186",
      "b187",
      "b188",
      "b195",
      "b196",
      "b197",
      "b198",
      "b199",
      "b200",
      "b201",
      "b202",
      "b203",
      "b204",
      "b205",
      "b206",
      "b207",
      "b208",
      "b209",
      "b210",
      "b211",
      "b212",
      "b213",
      "b215",
      "b216",
      "b217",
      "b218",
      "b219",
      "b220",
      "b221",
      "b222",
      "b224",
      "b225",
      "b226",
      "b227",
      "b228",
      "b229",
      "b230",
      "b231",
      "b232",
      "b235",
      "b236",
      "b237",
      "b238",
      "b239",
      "b240",
      "b241",
      "b242",
      "b243",
      "b244",
      "b245",
      "b246",
      "b247",
      "b248",
      "b249",
      "b250",
      "b251",
      "b256",
      "b258",
      "b263",
      "b264",
      "b265",
      "b269",
      "b270",
      "b271",
      "b272",
      "b273",
      "b275",
      "b276",
      "b280",
      "b281",
      "b282",
      "b285",
      "b286",
      "b287",
      "b288",
      "b289",
      "b290",
      "b291",
      "b292",
      "b296",
      "b297",
      "b298",
      "b300",
      "b301",
      "b302",
      "b303",
      "b304",
      "b305",
      "b306",
      "b307",
      "b316",
      "b317",
      "b318",
      "b323",
      "b324",
      "b325",
      "b326",
      "b327",
      "b328",
      "b330",
      "b331",
      "b332",
      "b340",
      "b341",
      "b342",
      "b350",
      "b351",
      "b352",
      "b353",
      "b360",
      "b361",
      "b362",
      "b363",
      "b364",
      "b365",
      "b366",
      "b367",
      "b368",
      "b369",
      "b370",
      "b371",
      "b372",
      "b373",
      "b374",
      "b375",
      "b376",
      "b377",
      "b378",
      "b379",
      "b385",
      "b386",
      "b387",
      "b388",
      "b389",
      "b390",
      "b391",
      "b392",
      "b393",
      "b394",
      "b397",
      "b398",
      "b399",
      "b400",
      "b401",
      "b402",
      "b403",
      "b404",
      "b405",
      "b406",
      "b407",
      "b408",
      "b409",
      "b410",
      "b411",
      "b412",
      "b413",
      "b415",
      "b416",
      "b414",
      "b420",
    ];
    const faults = [
      "c82",
      "c83",
      "c84",
      "c85",
      "c86",
      "c89",
      "c90",
      "c91",
      "c92",
      "c93",
      "c94",
      "c95",
      "c96",
      "c97",
      "c98",
      "c99",
      "c100",
      "c101",
      "c103",
      "c104",
      "c105",
      "c106",
    ];
    const wanted = [...numbered("b", 139), ...extra, ...numbered("c", 78), ...faults];
    expect(ROWS.map(({ id }) => id)).toEqual(wanted);
  });

  it.each(ROWS.filter(({ proof }) => proof !== "-"))("$id is proven by a test that exists", ({ id, proof }) => {
    for (const file of proof.split(", ")) {
      expect(named.has(file), `${file} does not exist`).toBe(true);
      expect([...(named.get(file) ?? [])], `${file} names the row`).toContain(id);
    }
  });

  it("misses no row that a test claims to prove", () => {
    const proven = new Set(ROWS.filter(({ proof }) => proof !== "-").map(({ id }) => id));
    const claimed = [...named].flatMap(([file, ids]) => [...ids].map((id) => ({ id, file })));
    expect(claimed.filter(({ id }) => !proven.has(id))).toEqual([]);
  });
});

function numbered(letter: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${letter}${i + 1}`);
}
