import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { isThere } from './is-there.ts';
import { runCommand } from './run-command.ts';

// The first Debian suite with a nats-server that is new enough (2.15.1). The suite's programs also run on Debian 12,
// since they need only version 2.34 of the C library.
const usualSuite = 'forky';
const debianSuites = /^(oldoldstable|oldstable|stable|testing|unstable|sid|buster|bullseye|bookworm|trixie|forky)$/;
const keyrings = ['/usr/share/keyrings/debian-archive-keyring.gpg', '/usr/share/keyrings/debian-archive-keyring.pgp'];
const listTimeoutMs = 20_000;
const updateTimeoutMs = 120_000;
const downloadTimeoutMs = 60_000;
const extractTimeoutMs = 30_000;

/**
 * Downloads packages of `suite` from the Debian mirror that apt already uses, unpacks them, and returns the folder to
 * which their paths are relative. Writes only below `folder`: needs no root, installs nothing and changes none of apt's
 * files. Dependencies are not fetched.
 */
export async function fetchDebianPackages(
  names: readonly string[],
  folder: string,
  signal: AbortSignal,
  suite = usualSuite,
): Promise<string> {
  const keyring = await findKeyring();
  const mirror = await findMirror(signal);
  const aptConfig = await writeAptConfig(folder, `deb [signed-by=${keyring}] ${mirror} ${suite} main\n`);
  const apt = (args: readonly string[], timeoutMs: number): Promise<unknown> =>
    runCommand('apt-get', ['-q', '-c', aptConfig, ...args], { timeoutMs, signal, cwd: folder });
  await apt(['update'], updateTimeoutMs);
  await apt(['download', ...names], downloadTimeoutMs);
  const archives = await readdir(folder);
  const contents = join(folder, 'contents');
  for (const name of names) {
    const archive = archives.find((file) => file.startsWith(`${name}_`) && file.endsWith('.deb'));
    if (archive === undefined) {
      throw new Error(`apt-get downloaded no ${name} of ${suite} from ${mirror}`);
    }
    await runCommand('dpkg', ['-x', join(folder, archive), contents], { timeoutMs: extractTimeoutMs, signal });
  }
  return contents;
}

/** Options that make apt use only its own folders below `folder`. */
export function renderAptConfig(folder: string, isRoot: boolean): string {
  return [
    `Dir::State "${folder}/state";`,
    'Dir::State::status "/dev/null";',
    `Dir::Cache "${folder}/cache";`,
    `Dir::Etc::sourcelist "${folder}/sources.list";`,
    'Dir::Etc::sourceparts "/dev/null";',
    'Dir::Etc::preferences "/dev/null";',
    'Dir::Etc::preferencesparts "/dev/null";',
    'Acquire::Languages "none";',
    'Acquire::Retries "1";',
    // Turns an update that could not fetch the lists into an error with apt's reason.
    'APT::Update::Error-Mode "any";',
    'Acquire::http::Timeout "10";',
    'Acquire::https::Timeout "10";',
    // The update hooks of the system expect the system's own lists.
    '#clear APT::Update::Pre-Invoke;',
    '#clear APT::Update::Post-Invoke;',
    '#clear APT::Update::Post-Invoke-Success;',
    // Root's apt downloads as the account _apt, which cannot enter a folder of mode 0700.
    ...(isRoot ? ['APT::Sandbox::User "root";'] : []),
    '',
  ].join('\n');
}

/**
 * The Debian mirror in the output of `apt-get indextargets`, whose lines are `uri release component origin`; undefined
 * if there is none. Before the first update origins are empty, so a line without an origin counts if no line's origin
 * is Debian.
 */
export function pickDebianMirror(targets: string): string | undefined {
  const candidates = targets
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([uri, release, component]) => {
      const isFetched = /^(https?|mirror|file|copy)[+:]/.test(uri ?? '');
      return isFetched && component === 'main' && debianSuites.test(release ?? '');
    });
  const debian = candidates.find(([, , , origin]) => origin === 'Debian');
  return (debian ?? candidates.find(([, , , origin]) => (origin ?? '') === ''))?.[0];
}

async function findKeyring(): Promise<string> {
  for (const keyring of keyrings) {
    if (await isThere(keyring)) {
      return keyring;
    }
  }
  throw new Error(`this system is not Debian: ${keyrings[0]} does not exist`);
}

async function findMirror(signal: AbortSignal): Promise<string> {
  const format = '$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)';
  const { stdout } = await runCommand('apt-get', ['indextargets', '--format', format, 'Created-By: Packages'], {
    timeoutMs: listTimeoutMs,
    signal,
  });
  const mirror = pickDebianMirror(stdout);
  if (mirror === undefined) {
    throw new Error("apt's sources name no Debian mirror");
  }
  return mirror;
}

async function writeAptConfig(folder: string, source: string): Promise<string> {
  for (const name of ['state/lists/partial', 'cache/archives/partial']) {
    await mkdir(join(folder, name), { recursive: true });
  }
  await writeFile(join(folder, 'sources.list'), source);
  const config = join(folder, 'apt.conf');
  await writeFile(config, renderAptConfig(folder, process.getuid?.() === 0));
  return config;
}
