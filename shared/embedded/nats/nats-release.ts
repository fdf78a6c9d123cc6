import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EnvHttpProxyAgent, fetch } from 'undici';

import { runCommand } from '../machine/run-command.ts';

/** An official build of nats-server: its address, and the SHA-256 of its archives. */
export type NatsRelease = {
  readonly tag: string;
  readonly baseUrl: string;
  /**
   * SHA-256 by platform (`natsPlatform`), from the Dockerfile of the official image or the release's SHA256SUMS. An
   * archive without a checksum is not fetched.
   */
  readonly checksums: Readonly<Record<string, string>>;
};

/** The release to fetch when this machine has no nats-server. */
export const natsRelease: NatsRelease = {
  tag: 'v2.15.1',
  baseUrl: 'https://github.com/nats-io/nats-server/releases/download',
  // Empty, because no verified checksum was available when this tag was chosen.
  checksums: {},
};

const connectTimeoutMs = 5_000;
const silenceTimeoutMs = 15_000;
const downloadTimeoutMs = 120_000;
const extractTimeoutMs = 30_000;
const archiveBytesMax = 64 * 1024 * 1024;
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64', arm: 'arm7' };

/**
 * Downloads a release into the folder, checks its SHA-256, unpacks it, and returns the path of the program. `givenSum`
 * is the archive's SHA-256 from the operator, which overrides the pinned one.
 */
export async function fetchNatsRelease(
  release: NatsRelease,
  folder: string,
  signal: AbortSignal,
  givenSum?: string,
): Promise<string> {
  const platform = natsPlatform();
  const name = `nats-server-${release.tag}-${platform}`;
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(downloadTimeoutMs)]);
  const expected = givenSum?.toLowerCase() ?? release.checksums[platform];
  if (expected === undefined) {
    throw new Error(
      `no SHA-256 of ${name}.tar.gz is pinned: set SLUICE_NATS_SERVER_SHA256 to the one that the release's SHA256SUMS lists for it`,
    );
  }
  const archive = await download(`${release.baseUrl}/${release.tag}/${name}.tar.gz`, deadline);
  const actual = createHash('sha256').update(archive).digest('hex');
  if (actual !== expected) {
    throw new Error(`${name}.tar.gz has the SHA-256 ${actual}, not ${expected}; it was discarded`);
  }
  const archivePath = join(folder, 'nats-server.tar.gz');
  await writeFile(archivePath, archive);
  await runCommand('tar', ['-xzf', archivePath, '-C', folder, `${name}/nats-server`], {
    timeoutMs: extractTimeoutMs,
    signal,
  });
  return join(folder, name, 'nats-server');
}

/** The platform as nats-server's releases name it, such as `linux-amd64`. Throws if there is no release for it. */
export function natsPlatform(): string {
  const architecture = architectures[process.arch];
  if (architecture === undefined || !['linux', 'darwin'].includes(process.platform)) {
    throw new Error(`there is no release for ${process.platform}-${process.arch}`);
  }
  return `${process.platform}-${architecture}`;
}

async function download(url: string, signal: AbortSignal): Promise<Buffer> {
  // Respects http_proxy and similar variables, as apt does.
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
        throw new Error(`the server sent more than ${archiveBytesMax} bytes`);
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    // The message of fetch's error is only "fetch failed"; the cause has the reason.
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new Error(`cannot fetch ${url}: ${reason instanceof Error ? reason.message : String(reason)}`, {
      cause: error,
    });
  } finally {
    await dispatcher.destroy();
  }
}
