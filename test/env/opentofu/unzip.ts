import { inflateRawSync } from "node:zlib";

const END_OF_ENTRIES = 0x06054b50;
const STORED = 0;

/** The texts of the files in a zip archive, such as a plan that was saved. */
export function textsInZip(archive: Buffer): string[] {
  const end = archive.lastIndexOf(Buffer.from(Uint32Array.of(END_OF_ENTRIES).buffer));
  const texts: string[] = [];
  let entry = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const [method, size, header] = [entry + 10, entry + 20, entry + 42].map((at, i) =>
      i === 0 ? archive.readUInt16LE(at) : archive.readUInt32LE(at),
    ) as [number, number, number];
    const data = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
    const bytes = archive.subarray(data, data + size);
    texts.push((method === STORED ? bytes : inflateRawSync(bytes)).toString("latin1"));
    entry += 46 + [28, 30, 32].reduce((sum, at) => sum + archive.readUInt16LE(entry + at), 0);
  }
  return texts;
}
