#!/bin/sh
# second-user.sh - another user of the machine tries every door of a launcher and its job.
#
#   second-user.sh launcher       a job on this machine, of root and of an ordinary user
#   second-user.sh host           a host of our server library that is root, and a client that is not
#   second-user.sh nodes          daemons of many nodes, and standing ones
#   second-user.sh ranks          a rank that becomes another user; who takes a singleton's port
#   second-user.sh files          names that he has taken before
#   second-user.sh control        a server that believes what it is told of closed connections is seen
#   second-user.sh crowds         a job is not kept from its work by those who are not let in
#
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/second-user-lib.sh
. "$(dirname "$0")/second-user-lib.sh"
part=${1:-launcher}
second_user_world "$@"
use_launcher wireup

# Says hello as a tool, asks for a program and leaves: while the launcher is busy for a moment (then all that
# it finds is a connection whose other end has gone), and while it is not.
nobody_let_in() # DOORS: of the job
{
    while read -r kind name pid; do
        [ "$kind" = tcp ] || continue
        python3 "$attacker" leave "$name" "$pid" "$tmp/canary/$victim" "$(uid_of "$victim")" $intruder >"$tmp/said" 2>&1
        same "nobody who says hello and leaves is answered ($victim)" "$(cat "$tmp/said")" "done"
    done <"$1"
    intruder every "$tmp/canary/$victim" <"$1" >"$tmp/said" 2>&1
    same "no words are answered at any door ($victim)" "$(cat "$tmp/said")" "done"
}

honest_tool() # PORT
{
    as "$victim" python3 "$attacker" spawn "$1" "$tmp/canary/$victim/honest" >"$tmp/said" 2>&1
    ok "a tool of $victim itself gets its program: the check sees what is to be seen" \
        wait_until 60 [ -e "$tmp/canary/$victim/honest" ] || note "$(cat "$tmp/said")"
    rm "$tmp/said"
    expected_canaries="./$victim/honest "
}

case $part in
launcher)
    for who in root $ordinary; do
        job_up $who -tool-files on
        doors >"$tmp/doors"
        note "$(cat "$tmp/doors")"
        port=$(sed -n 's/^tcp \([0-9]*\) .*/\1/p' "$tmp/doors" | head -n 1)
        honest_tool "$port"
        nobody_let_in "$tmp/doors"
        job_over
    done
    ;;
host)
    host=${WU_HOST:-$e2e_tree/build/tests/e2e/e2e-second_user_host}
    LD_LIBRARY_PATH=$e2e_tree/build/src/lib/pmix
    export LD_LIBRARY_PATH
    victim=root
    expected_canaries=

    # ---- what a client leaves behind, and asks to be removed
    mkdir -p -m 755 "$tmp/roots/tree"
    (umask 077 && echo precious >"$tmp/roots/file" && echo precious >"$tmp/roots/tree/file")
    as $intruder sh -c 'cd "$1" && mkdir own && touch file own/file && ln -s "$2" link && ln -s "$2/file" own/link &&
        ln -s "$2/file" toroot' sh "$tmp/share" "$tmp/roots"
    run 120 "$host" host uri $intruder "$host" guest cleanup "$tmp/roots/file" "$tmp/roots/tree/" \
        "$tmp/share/link/file" "$tmp/share/link/tree/" "$tmp/share/link/" "$tmp/share/file" "$tmp/share/own/" \
        "$tmp/share/../roots/file" "$tmp/share/toroot"
    same "the client came and went" "$rc $(tail -n 1 "$out")" "0 guest gone" || explain
    same "root's files are there" "$(cd "$tmp/roots" && find . -type f | sort | tr '\n' ' ')" "./file ./tree/file " || explain
    same "the client's own are not" "$(cd "$tmp/share" && find . ! -name . ! -name link ! -name toroot | sort)" "" || explain
    rm -rf "$tmp/share"/*

    # ---- who it says that it is
    run 120 "$host" host uri $intruder "$host" guest claims
    note "$(cat "$out")"
    same "the client came and went" "$rc $(tail -n 1 "$out")" "0 guest gone" || explain
    for call in publish lookup unpublish; do
        ok "the host hears who the client is: $call" grep -q "^$call of guests user $intruder" "$out" || explain
    done
    same "the client had nothing to complain of" "$(grep 'guest failed' "$out")$(cat "$err")" ""
    same "and nowhere that it is root" "$(grep -E ' (user|group) 0' "$out")" "" || explain

    # ---- who is refused, and hears why
    # shellcheck disable=SC2016
    run 120 "$host" host uri $intruder /bin/sh -c '
        PMIX_NAMESPACE=testjob "$0" visit
        PMIX_NAMESPACE=nowhere "$0" visit
        PMIX_RANK=7 "$0" visit
        "$0" visit a-tool' "$host"
    same "somebody who is expected, and comes as somebody else, hears why not" \
        "$rc $(grep -E '^(process|tool) ' "$out" | tr '\n' ,)" "0 process -23,process -46,process -46,tool -23," || explain

    # ---- who comes to its port
    fresh
    mkfifo say
    "$host" host uri $intruder /bin/true <say >"$out" 2>"$err" &
    job=$!
    exec 9>say
    ok "a host is up" wait_until 60 grep -q '^guest gone' "$out" || { rc=0; explain; }
    doors >"$tmp/doors"
    note "$(cat "$tmp/doors")"
    ok "it has a port" grep -q '^tcp' "$tmp/doors"
    nobody_let_in "$tmp/doors"
    same "a tool of nobody who is expected is not kept waiting" \
        "$(as $intruder env PMIX_SERVER_URI41="$(cat uri)" timeout 300 "$host" visit a-tool 2>&1 | tail -n 1)" "tool -25"
    exec 9>&-
    wait $job
    rc=$?
    same "the host ends well" "$rc" 0 || explain
    same "no process of its user has come to it, nor a tool" \
        "$(grep -v -e '^guest gone' -e "^tool of nobody user $intruder group $intruder$" "$out")" "" || explain
    ;;
nodes)
    needs_host_names
    named_agent
    victim=root
    # ---- a launch, while everybody else is calling
    for turn in 1 2 3; do
        intruder besiege 60 >"$tmp/siege" 2>&1 9>&- &
        siege=$!
        wait_until 60 grep -q ready "$tmp/siege"
        run 60 "$WIREUP" -launch-agent "$tmp/agent" -hosts n1:1,n2:1,n3:1 -n 3 echo started
        same "a launch over three nodes comes up, whoever else calls ($turn)" \
            "$rc $(sort "$out" | tr '\n' ,)" "0 started,started,started," || explain
        pkill -P $siege
        wait $siege 2>/dev/null
    done

    # ---- who stands where a daemon expects its parent, and says no
    intruder refuse "$tmp/share/port" >"$tmp/said" 2>&1 &
    refuser=$!
    wait_until 60 [ -e "$tmp/share/port" ]
    cat >"$tmp/misled" <<'END'
#!/bin/sh
sed -u "s/^addresses \(.*\)/addresses 127.0.0.1:$WU_INTRUDER $WU_REAL/" | "$WU_AGENT" "$@"
END
    chmod +x "$tmp/misled"
    # The intruder's address comes first, and the parent's own behind it, or not at all.
    for real in '\1' ''; do
        run 100 env WU_INTRUDER="$(cat "$tmp/share/port")" WU_REAL="$real" WU_AGENT="$tmp/agent" \
            "$WIREUP" -launch-agent "$tmp/misled" -hosts n1:1,n2:1 -n 2 echo started
        if [ -n "$real" ]; then
            same "a no from somebody who is not the parent keeps no daemon from it" \
                "$rc $(tr '\n' ' ' <"$out")" "0 started started " || explain
        else
            same "and gives nobody advice" "$(grep -c started "$out") $(grep -c 'install the same' "$err")" "0 0" || explain
        fi
    done
    ok "he has been called, and has said no" grep -q 'refused one' "$tmp/said" || note "$(cat "$tmp/misled")"
    pkill -P $refuser
    wait $refuser 2>/dev/null

    # ---- every door of a launcher with daemons
    job_up root -tool-files on -launch-agent "$tmp/agent" -hosts n1:1,n2:1
    doors >"$tmp/doors"
    note "$(cat "$tmp/doors")"
    nobody_let_in "$tmp/doors"
    job_over

    # ---- standing daemons
    fresh
    run 120 "$WIREUP" up -launch-agent "$tmp/agent" -hosts n1:2,n2:2
    same "two nodes stand" "$rc" 0 || explain
    as $intruder timeout 300 "$WIREUP" down >"$tmp/said" 2>&1
    same "another user has nothing to end" "$?" 1 || note "$(cat "$tmp/said")"
    as $intruder timeout 300 "$WIREUP" run -n 1 sh -c 'id -u; hostname' >"$tmp/said" 2>&1
    same "and runs on no node of them" "$(cat "$tmp/said")" "$(printf '%s\n' $intruder "$(hostname)")"
    as $intruder timeout 300 "$WIREUP" on n1 touch "$tmp/canary/root/on" >"$tmp/said" 2>&1
    doors $(pgrep -x wireup) >"$tmp/doors"
    note "$(cat "$tmp/doors")"
    nobody_let_in "$tmp/doors"
    run 120 "$WIREUP" run -n 2 hostname
    same "they stand, and run root's jobs" "$rc $(sort "$out" | tr '\n' ' ')" "0 n1 n1 " || explain
    run 120 "$WIREUP" down
    same "and end when root says so" "$rc" 0 || explain
    same "nothing was started for anybody" "$(canaries)" "" || explain
    # (Daemons of this machine are killed with the launcher, wherever they are; who comes next clears up.)
    wait_until 60 nobody_left
    "$WIREUP" ps >"$tmp/said" 2>&1
    ;;
ranks)
    victim=root
    # ---- a rank of root's that becomes another user keeps nothing of what root may
    run 60 env WU_SPOIL=rank "$WIREUP" -n 1 python3 "$attacker" turncoat "$tmp/canary/root/honest" $intruder
    ok "root's rank gets its program: the check sees what is to be seen" \
        wait_until 60 [ -e "$tmp/canary/root/honest" ] || explain
    rm -f "$tmp/canary/root/honest"
    run 60 "$WIREUP" -n 1 python3 "$attacker" turncoat "$tmp/canary/root/turncoat" $intruder
    ok "it had begun well, with the store" grep -q '^init True store 1' "$out" || explain
    same "nobody writes to the store" "$(grep 'store takes' "$out" | grep -v '\[\]$')" "" || explain
    same "a rank that has become another user starts no program" \
        "$(canaries)$(grep -c 'asks: cmd=spawn_result rc=0' "$out")" 0 || explain
    same "and publishes nothing" "$(grep -c 'publishes: .*rc=0' "$out")" 0 || explain
    rm -f "$tmp/canary/root/turncoat"

    # ---- the port of a singleton that has gone is the intruder's now
    intruder singleton "$tmp/share/port" "$tmp/canary/root/singleton" >"$tmp/said" 2>&1 &
    taker=$!
    wait_until 60 [ -e "$tmp/share/port" ]
    run 60 "$WIREUP" -pmi_args "$(cat "$tmp/share/port")" default_interface default_key $$
    wait $taker
    ok "a launcher that is called for a singleton does not take its port's next owner" \
        grep -q 'refused a connection of another user' "$err" || explain
    same "and starts nothing for him" "$(canaries)$(cat "$tmp/said")" "singleton: nothing"
    same "which is a failure" "$rc" 1

    # ---- a copy of the launcher that anybody runs as root
    cp "$WIREUP" "$bin/wireup.suid"
    chmod 4755 "$bin/wireup.suid"
    as $intruder timeout 300 "$bin/wireup.suid" -n 1 touch "$tmp/canary/root/suid" >"$tmp/said" 2>&1
    ok "a set-uid launcher refuses" [ $? -ne 0 ] || note "$(cat "$tmp/said")"
    ok "with a sentence" grep -q 'set-uid' "$tmp/said" || note "$(cat "$tmp/said")"
    same "and starts nothing" "$(canaries)" ""
    rm "$bin/wireup.suid"
    ;;
files)
    victim=root
    mkdir -p -m 755 "$tmp/roots/tree"
    (umask 077 && echo precious >"$tmp/roots/file" && echo precious >"$tmp/roots/tree/file")
    untouched() { (cd "$tmp/roots" && find . -ls | awk '{ print $3, $5, $7, $NF }' | sort && cat file tree/file); }
    untouched >"$tmp/untouched"
    as $intruder mkdir -m 777 "$tmp/share/his"

    # ---- files that root has named, in a folder where everybody may write
    for how in link fifo; do
        for option in "-trace $tmp/share/his/name" "-outfile-pattern $tmp/share/his/name"; do
            [ $how = fifo ] && as $intruder mkfifo -m 666 "$tmp/share/his/name" ||
                as $intruder ln -s "$tmp/roots/file" "$tmp/share/his/name"
            # shellcheck disable=SC2086
            run 60 "$WIREUP" $option -n 1 echo lost
            ok "a $how in the place of a file that root names is no trap: ${option%% *}" [ "$rc" != 124 ] || explain
            same "and root's own file is as it was" "$(untouched)" "$(cat "$tmp/untouched")"
            rm -f "$tmp/share/his/name"
        done
    done

    # ---- a run-time directory that is not the user's own
    job_up root -tool-files on
    XDG_RUNTIME_DIR=$tmp/share/his "$WIREUP" ps >"$tmp/said" 2>&1
    exec 9>&-
    wait $job
    wait $reader
    XDG_RUNTIME_DIR=$tmp/share/his
    export XDG_RUNTIME_DIR
    job_up root -tool-files on
    same "nothing is put into the run-time directory of somebody else" "$(ls -A "$tmp/share/his")" ""
    "$WIREUP" ps >"$tmp/said" 2>&1
    ok "and root's launchers find each other" grep -q second_user_job "$tmp/said" || note "$(cat "$tmp/said")"
    # What there is in TMPDIR, and of what pid.
    find "$tmp/tmp" -mindepth 1 -maxdepth 1 -printf '%f\n' >"$tmp/names"
    doors >"$tmp/doors"
    note "in TMPDIR: $(tr '\n' ' ' <"$tmp/names")"
    last=$(sed -n 's/.* //p' "$tmp/doors" | head -n 1)
    exec 9>&-
    wait $job
    wait $reader

    # ---- names in TMPDIR, those of the next pids too
    ok "there are names to be taken" [ -s "$tmp/names" ]
    for how in dir link file fifo; do
        while read -r name; do
            now=$(sh -c 'echo $$')
            for pid in $(seq "$now" $((now + 40))); do
                taken=$tmp/tmp/$(echo "$name" | sed "s/$last/$pid/g")
                [ -e "$taken" ] || [ -L "$taken" ] || echo "$taken"
            done
        done <"$tmp/names" | sort -u >"$tmp/taken"
        # shellcheck disable=SC2016
        as $intruder sh -c 'while read -r name; do
                case $1 in
                dir) mkdir -m 777 "$name" ;;
                link) ln -s "$2" "$name" ;;
                file) echo his >"$name" ;;
                fifo) mkfifo -m 666 "$name" ;;
                esac
            done' sh $how "$tmp/roots" <"$tmp/taken"
        run 60 "$WIREUP" -tool-files on -n 1 true
        ok "names that were taken before ($how) are no trap" [ "$rc" != 124 ] || explain
        same "nothing of root's is touched" "$(untouched)" "$(cat "$tmp/untouched")"
        same "and nothing of root's is in them" "$(find "$tmp/tmp" -user root ! -path "$tmp/tmp")" ""
        xargs rm -rf <"$tmp/taken"
    done
    ;;
control)
    c_program second_user_trust -shared -fPIC -ldl
    LD_PRELOAD=$bin/second_user_trust
    export LD_PRELOAD
    job_up root -tool-files on
    unset LD_PRELOAD
    doors >"$tmp/doors"
    honest_tool "$(door_of tcp "$tmp/doors")"
    while read -r kind name pid; do
        [ "$kind" = tcp ] || continue
        python3 "$attacker" leave "$name" "$pid" "$tmp/canary/root" 0 $intruder >"$tmp/said" 2>&1
    done <"$tmp/doors"
    exec 9>&-
    wait $job
    wait $reader
    note "$(canaries)"
    ok "a server that trusts the state of closed sockets starts programs for anybody, and is seen to" \
        [ "$(canaries)" != "$expected_canaries" ]
    ;;
crowds)
    job_up $ordinary -tool-files on
    doors >"$tmp/doors"
    mkdir -m 777 "$tmp/own.d"
    mkfifo own.d.hold
    as $intruder python3 "$attacker" door "$tmp/own.d/doors" 9>&- &
    own=$!
    wait_until 60 [ -e "$tmp/own.d/doors" ]
    cp "$tmp/own.d/doors" "$tmp/own"
    for kind in tcp unix; do
        [ -n "$(door_of $kind "$tmp/doors")" ] || continue
        for what in flood hold drip; do
            in_turns $what $kind
        done
    done
    # Standard error is a terminal at the far end of a slow line, or a pager.
    kill -STOP $reader
    intruder flood tcp "$(door_of tcp "$tmp/doors")" 2
    echo slow.attack >&9
    ok "a job whose standard error nobody reads goes on" wait_until 20 grep -q '^slow.attack' "$out" || explain
    kill -CONT $reader
    # Names as our launchers have, thousands of them, behind each of which somebody tells lies.
    as $intruder python3 "$attacker" names $ordinary 4000 <own.d.hold >"$tmp/names" 2>&1 9>&- &
    exec 8>own.d.hold
    wait_until 60 grep -q ready "$tmp/names"
    as $ordinary timeout 300 "$WIREUP" ps >"$tmp/said" 2>&1
    same "its user sees the job among 4,000 false names" "$(grep -c 'second_user_job' "$tmp/said")" 1 || note "$(head -n 5 "$tmp/said")"
    as $ordinary timeout 300 "$WIREUP" names >"$tmp/said" 2>&1
    same "and believes none of them" "$(grep -c EVIL "$tmp/said")" 0
    exec 8>&-
    pkill -P "$own" 2>/dev/null || kill "$own"
    wait $own 2>/dev/null
    job_over
    # (Some at once, then one in a while, from each user and each address.)
    ok "what is said of it is bounded" [ "$(wc -l <"$err")" -le 150 ] || note "$(wc -l <"$err") lines: $(tail -n 3 "$err")"
    ;;
esac
finish
