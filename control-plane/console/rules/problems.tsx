import type { ReactElement } from 'react';

/** Warnings about a field, shown below it. */
export function Problems({ problems }: { readonly problems: readonly string[] }): ReactElement | null {
  if (problems.length === 0) return null;
  return (
    <div role="status">
      {problems.map((problem) => (
        <div key={problem} className="field-error">
          {problem}
        </div>
      ))}
    </div>
  );
}
