/** The installed packages of package-lock.json, by path. */
export type Lock = {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly version?: string;
        readonly integrity?: string;
        readonly hasInstallScript?: boolean;
        readonly dev?: boolean;
        readonly link?: boolean;
      }
    >
  >;
};

/** An advisory that is known and accepted. */
export type ExplainedAdvisory = {
  /** The advisory's id in `npm audit`: GHSA-… */
  readonly id: string;
  readonly package: string;
  /** The installed version for which the advisory was judged. */
  readonly version: string;
  /** Why it does no harm here. */
  readonly why: string;
};

export type Explained = {
  readonly installScripts: Readonly<Record<string, string>>;
  /** Packages without a checksum in package-lock.json, with the reason. */
  readonly withoutChecksum: Readonly<Record<string, string>>;
  readonly advisories: readonly ExplainedAdvisory[];
};

/** The members that are read from the output of `npm audit --json`. */
export type AuditReport = {
  /** Set if there is no report. */
  readonly message?: string;
  readonly error?: { readonly summary?: string };
  readonly vulnerabilities?: Readonly<
    Record<
      string,
      {
        readonly via: readonly (
          | string
          | { readonly url?: string; readonly title?: string; readonly severity?: string }
        )[];
      }
    >
  >;
};

const modules = 'node_modules/';
const nameOf = (path: string): string => path.slice(path.lastIndexOf(modules) + modules.length);

/** Problems with install scripts. They run as the user who installs, so package.json allows or denies each by name. */
export function scriptProblems(
  lock: Lock,
  allowed: Readonly<Record<string, boolean>>,
  { installScripts }: Explained,
): string[] {
  const withScript = new Set(
    Object.entries(lock.packages).flatMap(([path, { hasInstallScript }]) =>
      hasInstallScript === true ? [nameOf(path)] : [],
    ),
  );
  return [
    ...[...withScript]
      .filter((name) => !Object.hasOwn(allowed, name))
      .map((name) => `${name} has an install script: allow or deny it in allowScripts of package.json`),
    ...[...withScript]
      .filter((name) => !Object.hasOwn(installScripts, name))
      .map((name) => `${name} has an install script that is not explained`),
    ...[...new Set([...Object.keys(allowed), ...Object.keys(installScripts)])]
      .filter((name) => !withScript.has(name))
      .map((name) => `${name} is named in allowScripts or explained, but has no install script`),
  ];
}

/** Packages with neither a checksum, by which a download is verified, nor an explanation of its absence. */
export function checksumProblems(lock: Lock, { withoutChecksum }: Explained): string[] {
  const missing = new Set(
    Object.entries(lock.packages)
      .filter(([path, { integrity, link }]) => path !== '' && link !== true && integrity === undefined)
      .map(([path]) => nameOf(path)),
  );
  return [
    ...[...missing]
      .filter((name) => !Object.hasOwn(withoutChecksum, name))
      .map((name) => `${name} has no checksum in package-lock.json`),
    ...Object.keys(withoutChecksum)
      .filter((name) => !missing.has(name))
      .map((name) => `${name} has a checksum`),
  ];
}

/**
 * Explanations for a package version that is no longer installed: after an upgrade, the advisory needs a new
 * explanation.
 */
export function staleExplanations(lock: Lock, { advisories }: Explained): string[] {
  const installed = new Set(Object.entries(lock.packages).map(([path, { version }]) => `${nameOf(path)}@${version}`));
  return advisories
    .filter((one) => !installed.has(`${one.package}@${one.version}`))
    .map((one) => `${one.id}: ${one.package}@${one.version} is not installed any more`);
}

/** Advisories of installed packages without an explanation. */
export function unexplainedAdvisories({ vulnerabilities = {} }: AuditReport, { advisories }: Explained): string[] {
  const known = new Set(advisories.map(({ id }) => id));
  const found = Object.entries(vulnerabilities).flatMap(([name, { via }]) =>
    via.flatMap((one) => (typeof one === 'string' ? [] : [{ name, id: one.url?.split('/').at(-1) ?? '', ...one }])),
  );
  return found
    .filter(({ id }) => !known.has(id))
    .map(({ name, id, title, severity }) => `${name}: ${id} (${severity}) ${title}`);
}

/** Without packages that only tests and the build use, because no service contains them. */
export const auditCommand: readonly string[] = ['npm', 'audit', '--omit=dev', '--json'];

/** The unexplained findings of `npm audit`; if the registry returned no report, a note that nothing was compared. */
export function readAudit(
  { stdout, stderr }: { readonly stdout: string; readonly stderr: string },
  lock: Lock,
  explained: Explained,
): { readonly compared: boolean; readonly lines: readonly string[] } {
  const report = reportOf(stdout);
  if (report?.vulnerabilities !== undefined) return { compared: true, lines: unexplainedAdvisories(report, explained) };
  const packages = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  const reason = report?.message ?? report?.error?.summary ?? stderr.trim().split('\n', 1)[0] ?? '';
  return {
    compared: false,
    lines: [
      `no advisory was compared: the registry does not answer ${auditCommand.join(' ')}${reason === '' ? '' : ` (${withoutHosts(reason)})`}`,
      `not compared: all packages that services run with (${packages.length}); packages for builds and tests are never compared`,
      'run this check before a release with a registry that answers',
    ],
  };
}

function reportOf(stdout: string): AuditReport | undefined {
  try {
    return JSON.parse(stdout) as AuditReport;
  } catch {
    return undefined;
  }
}

const withoutHosts = (text: string): string => text.replaceAll(/https?:\/\/\S+/g, '…');
