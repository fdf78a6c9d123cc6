import { createContext, use, useEffect, useRef, useState } from 'react';
import type { ReactElement, ReactNode } from 'react';
import { useUnsaved } from './unsaved.ts';

export type EditFormProps = {
  /** The form's current values; unsaved if they differ from the values loaded or saved last. */
  readonly values: unknown;
  /** The state of the request that saves the form. */
  readonly save: { readonly status: 'idle' | 'pending' | 'success' | 'error'; readonly submittedAt: number };
  readonly onSubmit: () => void;
  /** True for a form that is cleared after saving. Default false. */
  readonly startsAgain?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
};

/** A form that asks for confirmation before the user leaves a page with unsaved changes. */
export function EditForm(props: EditFormProps): ReactElement {
  const { values, save, onSubmit, startsAgain = false, className, children } = props;
  const { status, submittedAt } = save;
  const written = JSON.stringify(values);
  const [saved, setSaved] = useState(written);
  const submitted = useRef<string>(undefined);
  const sent = useRef<string>(undefined);
  // Not when the form is submitted: a question may follow, and its answer may be no.
  if (status === 'pending') sent.current = submitted.current;
  useEffect(() => {
    if (status === 'success' && sent.current !== undefined && !startsAgain) setSaved(sent.current);
  }, [status, submittedAt, startsAgain]);
  const hasChanges = isUnsaved({ written, saved, sent: sent.current, status });
  useUnsaved(hasChanges);
  return (
    <form
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        submitted.current = written;
        onSubmit();
      }}
    >
      <HasChanges value={hasChanges}>{children}</HasChanges>
    </form>
  );
}

/** Whether the form around a component has unsaved changes. */
const HasChanges = createContext(false);

/** A note that the form around it is saved: hidden while the form has unsaved changes. */
export function WhileSaved({ children }: { readonly children: ReactNode }): ReactNode {
  return use(HasChanges) ? null : children;
}

type Written = {
  readonly written: string;
  readonly saved: string;
  readonly sent: string | undefined;
  readonly status: EditFormProps['save']['status'];
};

/** Whether a form has changes that are neither saved nor being saved. Pure. */
export function isUnsaved({ written, saved, sent, status }: Written): boolean {
  if (written === saved) return false;
  return !(written === sent && (status === 'pending' || status === 'success'));
}
