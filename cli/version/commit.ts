/** The commit that the package was built of: its build writes it here. In a checkout nothing is, and git knows. */
export const COMMIT: string | null = null;
