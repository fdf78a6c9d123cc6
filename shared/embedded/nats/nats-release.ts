import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EnvHttpProxyAgent, fetch } from 'undici';

import { runCommand } from '../machine/run-command.ts';

/** An official build of nats-server: where it lies, and what its archives' SHA-256 must be. */
export type NatsRelease = {
  readonly tag: string;
  readonly baseUrl: string;
  /** By `os-arch`, from the Dockerfile of the official image. Others are looked up in the release's own SHA256SUMS. */
  readonly checksums: Readonly<Record<string, string>>;
};

/** The release fetched when this machine has none. */
export const natsRelease: NatsRelease = {
  tag: 'v2.15.1',
  baseUrl: 'https://github.com/nats-io/nats-server/releases/download',
  checksums: {},
};

const connectTimeoutMs = 5_000;
const silenceTimeoutMs = 15_000;
const downloadTimeoutMs = 120_000;
const extractTimeoutMs = 30_000;
const archiveBytesMax = 64 * 1024 * 1024;
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64', arm: 'arm7' };

/** Downloads and unpacks a release into the folder, checks its SHA-256, and returns the path of the program. */
export async function fetchNatsRelease(release: NatsRelease, folder: string, signal: AbortSignal): Promise<string> {
  const platform = natsPlatform();
  const name = `nats-server-${release.tag}-${platform}`;
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(downloadTimeoutMs)]);
  const expected = release.checksums[platform] ?? (await lookUpChecksum(release, `${name}.tar.gz`, deadline));
  const archive = await download(`${release.baseUrl}/${release.tag}/${name}.tar.gz`, deadline);
  const actual = createHash('sha256').update(archive).digest('hex');
  if (actual !== expected) {
    throw new Error(`${name}.tar.gz has the SHA-256 ${actual}, and not ${expected}; it was thrown away`);
  }
  const archivePath = join(folder, 'nats-server.tar.gz');
  await writeFile(archivePath, archive);
  await runCommand('tar', ['-xzf', archivePath, '-C', folder, `${name}/nats-server`], {
    timeoutMs: extractTimeoutMs,
    signal,
  });
  return join(folder, name, 'nats-server');
}

/** The platform in the words of nats-server's releases: `linux-amd64`. */
export function natsPlatform(): string {
  const architecture = architectures[process.arch];
  if (architecture === undefined || !['linux', 'darwin'].includes(process.platform)) {
    throw new Error(`there is no release for ${process.platform}-${process.arch}`);
  }
  return `${process.platform}-${architecture}`;
}

/** Finds a file's checksum in the text of a SHA256SUMS file: `<hex>  <file>` a line. */
export function findChecksum(sums: string, file: string): string | undefined {
  return sums
    .split('\n')
    .map((line) => /^([0-9a-f]{64})\s+\*?(\S+)\s*$/.exec(line))
    .find((match) => match?.[2] === file)?.[1];
}

async function lookUpChecksum(release: NatsRelease, file: string, signal: AbortSignal): Promise<string> {
  const sums = await download(`${release.baseUrl}/${release.tag}/SHA256SUMS`, signal);
  const checksum = findChecksum(sums.toString('utf8'), file);
  if (checksum === undefined) {
    throw new Error(`the release's SHA256SUMS does not list ${file}`);
  }
  return checksum;
}

async function download(url: string, signal: AbortSignal): Promise<Buffer> {
  // Follows http_proxy and the like, as the other ways to get the program do.
  const dispatcher = new EnvHttpProxyAgent({
    connect: { timeout: connectTimeoutMs },
    headersTimeout: silenceTimeoutMs,
    bodyTimeout: silenceTimeoutMs,
  });
  try {
    const response = await fetch(url, { dispatcher, signal });
    if (!response.ok || response.body === null) {
      throw new Error(`it answered ${response.status}`);
    }
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body) {
      bytes += chunk.byteLength;
      if (bytes > archiveBytesMax) {
        throw new Error(`it sent more than ${archiveBytesMax} bytes`);
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    // The reason lies one level down: what fetch itself says is "fetch failed".
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new Error(`cannot fetch ${url}: ${reason instanceof Error ? reason.message : String(reason)}`, {
      cause: error,
    });
  } finally {
    await dispatcher.destroy();
  }
}
