export type BrowserPage = {
  readonly status: number;
  readonly url: string;
  readonly text: string;
  readonly headers: Headers;
};

/** As much of a browser as signing in takes: cookies by origin, redirects, links and forms. */
export function openBrowser() {
  const jars = new Map<string, Map<string, string>>();
  /** Every address that was asked for. */
  const visited: string[] = [];

  function jarOf(url: string): Map<string, string> {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  }

  /** Asks for one page, and follows nothing. */
  async function ask(url: string, form?: Readonly<Record<string, string>>): Promise<BrowserPage> {
    const jar = jarOf(url);
    visited.push(url);
    const answer = await fetch(url, {
      method: form === undefined ? "GET" : "POST",
      redirect: "manual",
      headers: {
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; "),
        ...(form === undefined ? {} : { origin: new URL(url).origin }),
      },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return { status: answer.status, url, text: await answer.text(), headers: answer.headers };
  }

  /** Asks for a page, and for those that it is sent on to; not for one that begins with `stopAt`. */
  async function visit(url: string, form?: Readonly<Record<string, string>>, stopAt?: string): Promise<BrowserPage> {
    let page = await ask(url, form);
    for (let hops = 0; page.status >= 300 && page.status < 400 && hops < 20; hops++) {
      const to = new URL(page.headers.get("location") ?? "", page.url).href;
      if (stopAt !== undefined && to.startsWith(stopAt)) return { ...page, url: to };
      page = await ask(to);
    }
    return page;
  }

  return {
    ask,
    visit,
    visited,
    cookie: (url: string, name: string) => jarOf(url).get(name),
    cookieNames: (url: string) => [...jarOf(url).keys()],
    /** Forgets all that a site has set. */
    forget: (url: string) => jars.delete(new URL(url).origin),
    setCookie: (url: string, name: string, value: string) => jarOf(url).set(name, value),
  };
}

export type TestBrowser = ReturnType<typeof openBrowser>;
