/** An installation with a hostile tenant in it and others, before anything has happened. */
import { type Attacker, startAttacker } from "./attacker.ts";
import type { Furniture, Installation } from "./installation.ts";
import { type OwnUpstream, startOwnUpstream } from "./own-upstream.ts";
import type { HostileKeys } from "./victim.ts";

export type Stage = {
  readonly installation: Installation;
  /** The hostile tenant's upstream is this one's; it has not begun. */
  readonly attacker: Attacker;
  readonly upstream: OwnUpstream;
  readonly keys: HostileKeys;
  /** A key of the other tenants. */
  readonly other: string;
  close(): Promise<void>;
};

/**
 * @param open starts the processes
 * @param atoms how many the hostile team has
 */
export async function setStage(open: (furniture: Furniture) => Promise<Installation>, atoms: number): Promise<Stage> {
  const ends: (() => unknown)[] = [];
  const close = async () => {
    for (const end of ends.toReversed()) await end();
  };
  try {
    const attacker = await startAttacker();
    ends.push(attacker.kill);
    const upstream = await startOwnUpstream();
    ends.push(upstream.close);
    const installation = await open({ hostileUpstream: attacker.upstream, ownUpstream: upstream.url, atoms });
    ends.push(installation.close);
    const [full, reader, revoked, other] = [
      await installation.makeKey("hostile"),
      await installation.makeKey("hostile", ["memory:read"]),
      await installation.makeKey("hostile"),
      await installation.makeKey("others"),
    ];
    const more: string[] = [];
    while (more.length < 3) more.push((await installation.makeKey("hostile")).plaintext);
    await (await installation.revoke(revoked)).confirmed;
    const keys = { full: full.plaintext, more, reader: reader.plaintext, revoked: revoked.plaintext };
    return { installation, attacker, upstream, keys, other: other.plaintext, close };
  } catch (error) {
    await close();
    throw error;
  }
}
