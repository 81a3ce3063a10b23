# shellcheck shell=sh disable=SC2154
# openmpi-modern.sh - what Open MPI has from 5.0 on: asynchronous modex, sessions, failed processes that the others
# outlive and replace, jobs of two launchers that connect.  For scripts on lib.sh, with the programs in $bin; $into is the
# command that starts them where that Open MPI is (nothing: here).

# shellcheck disable=SC2086 # its words
# Values that are fetched when they are needed, or collected while Open MPI goes on.  (With async_modex 5.0.7 itself
# waits for ever now and then, under mpirun too, as soon as its ranks send to each other.)
exchange_ways() # WHERE LAUNCHER...
{
    ways_where=$1
    shift
    for async in 0 1; do
        for collect in 0 1; do
            run "$patience" "$@" -genv OMPI_MCA_pmix_base_async_modex $async -genv OMPI_MCA_pmix_base_collect_data \
                $collect -n 6 $into "$bin/hello"
            same "$ways_where: async_modex $async, collect_data $collect" "$rc $(sort "$out")" \
                "0 $(seq -f "hello %g of 6" 0 5)" || explain
        done
    done
}

sessions() # WHERE LAUNCHER...
{
    sessions_where=$1
    shift
    run "$patience" "$@" -n 4 $into "$bin/sessions" 1 spoil
    same "$sessions_where: sessions, the control" "$(cat "$out")" "sessions 4 WRONG ranks=4" || explain
    # (Of more threads at once Open MPI 5.0.7's own wait for each other, under mpirun too.)
    for threads in 0 1; do
        run "$patience" "$@" -n 4 $into "$bin/sessions" $threads
        same "$sessions_where: sessions of $threads more threads" "$rc $(cat "$out")" "0 sessions 4 good" || explain
    done
    run "$patience" "$@" -n 3 $into "$bin/psets" mpi://SELF
    same "$sessions_where: process sets" "$rc $(cat "$out")" "0 psets 3: 3, mpi://SELF has 1, alike 3" || explain
}

survivors() # WHERE LAUNCHER...
{
    survivors_where=$1
    shift
    # (The hierarchical collectives of 5.0.7, which it uses over nodes, wait for the dead.)
    set -- "$@" -with-ft ulfm -genv OMPI_MCA_coll ^han
    run "$patience" "$@" -n 4 $into "$bin/survives" 1 all
    same "$survivors_where: where nobody dies, no failure is found" "$(cat "$out")" "survives 4 WRONG" || explain
    for dead in 1 2; do
        run "$patience" "$@" -n 5 $into "$bin/survives" $dead
        same "$survivors_where: $dead of 5 die" "$rc $(cat "$out")" "137 survives 5 good" || explain
        run "$patience" "$@" -n 5 $into "$bin/replaces" $dead \
            $into "$bin/replaces"
        same "$survivors_where: $dead of 5 are replaced, and nobody else dies" \
            "$rc $(cat "$out") $(grep -o 'killed by signal [0-9]*' "$err" | sort -u)" \
            "137 replaces 5 good killed by signal 9" || explain
    done
    run "$patience" "$@" -n 5 $into "$bin/replaces" 1 /no/such/program
    same "$survivors_where: a replacement that cannot be started" "$(cat "$out")" "replaces 5 WRONG" || explain
}

# Two launchers: one finds the other's name, and they connect.
strangers() # WHERE LAUNCHER...
{
    strangers_where=$1
    shift
    timeout 300 "$@" -n 2 $into "$bin/meets" accept strangers >"$tmp/accept" 2>&1 &
    first=$!
    run 120 "$@" -n 3 $into "$bin/meets" connect strangers
    wait $first
    same "$strangers_where: jobs of two launchers meet" "$? $rc $(cat "$tmp/accept" "$out" | tr '\n' ,)" \
        "0 0 accepting,meets 2 good,meets 3 good," || note "$(cat "$tmp/accept" "$out" "$err")"
}

all_of_modern() # WHERE LAUNCHER...
{
    exchange_ways "$@"
    sessions "$@"
    survivors "$@"
    strangers "$@"
}
