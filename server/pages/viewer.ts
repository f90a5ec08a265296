import type { FastifyRequest } from "fastify";

/** The person who looks at a page. */
export type Viewer = {
  /** As the page shows them. */
  readonly name: string;
  /** Whether they run the installation, and so see every team. */
  readonly runsInstallation: boolean;
  /** What their forms carry. */
  readonly csrf: string;
};

/** The viewer of a request's page; null where no person is signed in. */
export function findViewer({ session, managementPrincipal }: FastifyRequest): Viewer | null {
  if (session === null) return null;
  const runsInstallation = typeof managementPrincipal?.as === "string";
  return { name: session.displayName, runsInstallation, csrf: session.csrfToken };
}

/** The viewer of a page that requires a session. */
export function viewerOf(request: FastifyRequest): Viewer {
  const viewer = findViewer(request);
  if (viewer === null) throw new Error("a page of the console was reached without a session");
  return viewer;
}
