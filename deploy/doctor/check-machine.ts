import { judgeOpenFiles } from '../../shared/doctor/judge-machine.ts';
import { judgeNode } from '../../shared/doctor/judge-versions.ts';
import { fail, ok } from '../../shared/doctor/finding.ts';
import type { Finding } from '../../shared/doctor/finding.ts';
import { openFilesLimit } from '../../shared/doctor/open-files-limit.ts';
import { loadUws } from '../../gateway/http/uws.ts';

/** Node, the C library and which build of the HTTP engine runs on them, the limit of open files. */
export function checkMachine(): Finding[] {
  return [judgeNode(process.versions.node), checkEngine(), judgeOpenFiles(openFilesLimit())];
}

function checkEngine(): Finding {
  const about = 'HTTP engine';
  const glibc = glibcVersion();
  const platform = glibc === undefined ? 'without glibc' : `on glibc ${glibc}`;
  try {
    const { packageName, version } = loadUws();
    return ok(about, `${packageName} ${version} ${platform}`);
  } catch (error) {
    const detail = `${error instanceof Error ? error.message : String(error)} ${platform}`;
    return fail(
      about,
      detail,
      'a gateway needs glibc 2.28 or newer with Node 20 to 24, and npm ci run on this platform',
    );
  }
}

function glibcVersion(): string | undefined {
  const report = process.report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime;
}
