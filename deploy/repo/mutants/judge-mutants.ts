import { scoreMin } from './rooms.ts';

/** The used part of Stryker's report: https://github.com/stryker-mutator/mutation-testing-elements, schema 2. */
export type MutationReport = {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly ReportedMutant[] }>>;
};

type ReportedMutant = {
  readonly status:
    | 'Killed'
    | 'Survived'
    | 'NoCoverage'
    | 'Timeout'
    | 'CompileError'
    | 'RuntimeError'
    | 'Ignored'
    | 'Pending';
  readonly mutatorName: string;
  readonly replacement?: string;
  /** Lines and columns count from 1. */
  readonly location: { readonly start: Position; readonly end: Position };
};

type Position = { readonly line: number; readonly column: number };

/** A mutant that no test notices. Identified by text, because line numbers change with every edit above. */
export type Survivor = {
  readonly file: string;
  /** The source line in which the mutant begins, without indentation. */
  readonly line: string;
  /** The changed text and its replacement. */
  readonly change: string;
};

/** A survivor that is accepted, with the reason. `times`: number of mutants with this text; by default one. */
export type ExplainedSurvivor = Survivor & { readonly times?: number; readonly why: string };

export type Verdict = {
  readonly noticed: number;
  readonly survivors: readonly Survivor[];
  /** Percentage of mutants that were noticed; 100 if there are none. */
  readonly score: number;
};

/** Counts the mutants of a report that tests noticed, by a failure or a timeout, and lists the others. */
export function judgeMutants({ files }: MutationReport): Verdict {
  const survivors: Survivor[] = [];
  let noticed = 0;
  for (const [file, { source, mutants }] of Object.entries(files)) {
    const lines = source.split('\n');
    for (const mutant of mutants) {
      if (mutant.status === 'Killed' || mutant.status === 'Timeout') noticed += 1;
      else if (mutant.status === 'Survived' || mutant.status === 'NoCoverage')
        survivors.push(survivorOf(file, lines, mutant));
    }
  }
  const all = noticed + survivors.length;
  return { noticed, survivors, score: all === 0 ? 100 : (noticed / all) * 100 };
}

function survivorOf(file: string, lines: readonly string[], { location, replacement = '' }: ReportedMutant): Survivor {
  const { start, end } = location;
  const first = lines[start.line - 1] ?? '';
  const isOneLine = start.line === end.line;
  const original = first.slice(start.column - 1, isOneLine ? end.column - 1 : undefined);
  const change = `${shorten(isOneLine ? original : `${original} …`)} → ${shorten(replacement)}`;
  return { file, line: first.trim(), change };
}

const changeCharactersMax = 160;
const shorten = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, changeCharactersMax);

/** Why a room does not pass: too low a score, and unexplained survivors. Empty if it passes. */
export function problemsOf(
  { noticed, score, survivors }: Verdict,
  explained: readonly ExplainedSurvivor[],
): readonly string[] {
  if (noticed + survivors.length === 0) return ['no mutant was tested'];
  const open = new Map(explained.map((survivor) => [keyOf(survivor), survivor.times ?? 1]));
  const low = score < scoreMin ? [`score ${score.toFixed(1)} %, at least ${scoreMin} % is required`] : [];
  const unexplained = survivors.filter((survivor) => {
    const left = open.get(keyOf(survivor)) ?? 0;
    open.set(keyOf(survivor), left - 1);
    return left <= 0;
  });
  return [
    ...low,
    ...unexplained.map(({ file, line, change }) => `${file}: no test notices ${change}\n      in ${line}`),
  ];
}

/**
 * Explanations of mutants that are now noticed or no longer exist. Only explanations for files in `looked` are judged.
 */
export function outdated(
  explained: readonly ExplainedSurvivor[],
  survivors: readonly Survivor[],
  looked: ReadonlySet<string>,
): readonly ExplainedSurvivor[] {
  const found = new Map<string, number>();
  for (const survivor of survivors) found.set(keyOf(survivor), (found.get(keyOf(survivor)) ?? 0) + 1);
  return explained.filter(
    (survivor) => looked.has(survivor.file) && (found.get(keyOf(survivor)) ?? 0) < (survivor.times ?? 1),
  );
}

/** Files and folders of a room of which the report has no mutant. */
export function unexamined(paths: readonly string[], { files }: MutationReport): readonly string[] {
  const examined = Object.entries(files).flatMap(([file, { mutants }]) => (mutants.length === 0 ? [] : [file]));
  return paths.filter((path) => !examined.some((file) => file === path || file.startsWith(`${path}/`)));
}

const keyOf = ({ file, line, change }: Survivor): string => `${file}\n${line}\n${change}`;
