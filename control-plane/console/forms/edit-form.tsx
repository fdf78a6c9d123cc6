import { useEffect, useRef, useState } from 'react';
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
  const sent = useRef<string>(undefined);
  useEffect(() => {
    if (status === 'success' && sent.current !== undefined && !startsAgain) setSaved(sent.current);
  }, [status, submittedAt, startsAgain]);
  useUnsaved(isUnsaved({ written, saved, sent: sent.current, status }));
  return (
    <form
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        sent.current = written;
        onSubmit();
      }}
    >
      {children}
    </form>
  );
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
