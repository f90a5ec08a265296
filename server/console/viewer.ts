import type { FastifyRequest } from "fastify";

/** Who looks at a page. */
export type Viewer = {
  /** As the page shows them. */
  readonly name: string;
  /** What their forms carry. */
  readonly csrf: string;
};

/** Who looks at the page that a request is for; null for nobody who is signed in. */
export function findViewer({ session }: FastifyRequest): Viewer | null {
  return session && { name: session.displayName, csrf: session.csrfToken };
}

/** Who looks at a page that takes somebody who is signed in. */
export function viewerOf(request: FastifyRequest): Viewer {
  const viewer = findViewer(request);
  if (viewer === null) throw new Error("a page of the console was reached without a session");
  return viewer;
}
