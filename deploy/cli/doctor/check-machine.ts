import { judgeOpenFiles, openFilesLimit } from '../../../shared/doctor/judge-machine.ts';
import { judgeNode } from '../../../shared/doctor/judge-versions.ts';
import { fail, ok } from '../../../shared/doctor/finding.ts';
import type { Finding } from '../../../shared/doctor/finding.ts';
import { UwsUnavailableError, glibcVersion, loadUws } from '../../../gateway/http/uws.ts';

/** Checks Node, the HTTP engine's build for this Node and C library, and the limit of open files. */
export function checkMachine(): Finding[] {
  return [judgeNode(process.versions.node), checkEngine(), judgeOpenFiles(openFilesLimit())];
}

function checkEngine(): Finding {
  const about = 'HTTP engine';
  try {
    const { packageName, version } = loadUws();
    const glibc = glibcVersion();
    return ok(about, `${packageName} ${version}${glibc === undefined ? '' : ` on glibc ${glibc}`}`);
  } catch (error) {
    if (!(error instanceof UwsUnavailableError)) throw error;
    return fail(about, error.why.problem, error.why.advice);
  }
}
